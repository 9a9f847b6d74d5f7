// What a search shows first. Pages that say how something is done come before those that say how it
// was decided or measured, and a function comes first where its whole name was typed. The other
// numbers are Sphinx's own.
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(decisions|changelog|contributing|architecture|project|releasing|testing)/.test(page)) return score - 20;
    if (/^(benchmarks|studies|comparing|hostile|paper|imagenet|literature)/.test(page)) return score - 10;
    return /^(examples|guide|index|reference)/.test(page) ? score : score + 5;
  },
  objNameMatch: 30,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

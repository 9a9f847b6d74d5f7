// Printed tables keep their columns on a narrow screen, where prose wraps (secant.css).
addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("pre")) {
    if (/^\S+( {2,}\S+){3}/m.test(block.textContent)) block.classList.add("columns");
  }
});

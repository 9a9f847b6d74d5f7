"""How far to trust a language model's confidence in its next token
================================================================

::

    python examples/token_confidence.py

A tiny model, made on the spot, reads text of a made-up language and learns from little of it.
`from_logits` turns its logits into the probability of the likeliest token and whether that was the
one: a few rows at a time, so that logits over a vocabulary of 100,000 are never copied as a whole.
Padding is left out by its label, -100.

Needs the extra torch.
"""

# sphinx_gallery_thumbnail_path = "gallery/rare.png"

from __future__ import annotations

import torch

import secant
from secant.torch import from_logits

VOCABULARY, CONTEXT, LENGTH = 50, 3, 33


def text(sentences: int, seed: int) -> torch.Tensor:
    """Write sentences in which each word makes some others likely; some end early."""
    language = torch.Generator().manual_seed(0)
    likely = (torch.randn(VOCABULARY, VOCABULARY, generator=language) * 1.5).softmax(dim=1)
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(0, VOCABULARY, (sentences, 1), generator=generator)
    for _ in range(LENGTH - 1):
        following = torch.multinomial(likely[words[:, -1]], 1, generator=generator)
        words = torch.cat([words, following], dim=1)
    return words


class TinyModel(torch.nn.Module):
    """Looks at the last words and guesses the next."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, 32)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(32 * CONTEXT, 256), torch.nn.ReLU(), torch.nn.Linear(256, VOCABULARY)
        )

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Return logits of the word after each window of words."""
        return self.layers(self.embedding(words.unfold(1, CONTEXT, 1)[:, :-1]).flatten(2))


def main() -> None:
    """Train on little text and assess the confidences on other text."""
    torch.manual_seed(0)
    model, little = TinyModel(), text(150, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(120):
        optimizer.zero_grad()
        logits = model(little).flatten(0, 1)
        torch.nn.functional.cross_entropy(logits, little[:, CONTEXT:].flatten()).backward()
        optimizer.step()
    other = text(1000, seed=2)
    truth = other[:, CONTEXT:].clone()
    truth[::4, 20:] = -100  # shorter sentences, filled up
    with torch.no_grad():
        correct, confidence = from_logits(model(other), truth)
    print(secant.assess(correct, confidence))


if __name__ == "__main__":
    main()

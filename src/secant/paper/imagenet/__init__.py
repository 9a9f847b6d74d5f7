"""The paper's ImageNet experiment."""

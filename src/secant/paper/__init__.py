"""The paper behind secant, reproduced: its synthetic data, figures and ImageNet experiment.

I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "Metrics of calibration for
probabilistic predictions." Journal of Machine Learning Research 23(351).
https://doi.org/10.48550/arXiv.2205.09680
"""

"""Functions that are multimodular, and the searches that this makes exact.

E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
Applied Probability* 37 (2000), 668-684.

`functions`
    Multimodular functions on the integers: their base, their atoms, whether a function is one, their natural form.
`minimum_cuts`
    Minimise L-natural convex functions by steepest descent: the best step up, or down, is a minimum cut.
`search`
    Local search in the neighbourhood of multimodular functions, and what it proves.
`words`
    Neighbours of words, as multimodular functions know them: letters changed to and fro, alternately.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

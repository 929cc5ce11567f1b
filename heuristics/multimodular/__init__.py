r"""Functions that are multimodular, and the searches that this makes exact.

A function g of n whole numbers is multimodular [1]_ if for every x and any two different vectors of the base

.. math::  b_0 = -e_1, \quad b_i = e_i - e_{i+1} \; (0 < i < n), \quad b_n = e_n,

.. math::  g(x + b_i) + g(x + b_j) \ge g(x) + g(x + b_i + b_j).                             \tag{5}

The n + 1 vectors sum to 0. Added one after the other, in any order, they lead from x through n + 1 points back to x:
the extreme points of an atom, a simplex. Atoms tile the space, and g is multimodular if and only if its interpolation
over atoms is convex. So a point that is no worse than all points :math:`x + \sum_i \alpha_i b_i` with
:math:`\alpha_i \in \{0, 1\}` is best of all [2]_.

In sums :math:`p_k = x_1 + \dots + x_k` the base reads :math:`\pm` unit vectors, and multimodular functions are those
that are L-natural convex in p [3]_,

.. math::  h(p) + h(q) \ge h(\lceil (p + q) / 2 \rceil) + h(\lfloor (p + q) / 2 \rfloor).

`minimum_cuts`
    Minimum cuts for capacities that are any numbers, and the best sets that they find.
`search`
    Local search in the neighbourhood of multimodular functions, and what it proves.
`words`
    Neighbours of words, as multimodular functions know them: letters changed to and fro, alternately.

References
----------
.. [1] B. Hajek, "Extremal splittings of point processes", *Mathematics of Operations Research* 10 (1985), 543-556.
.. [2] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684; numbers of formulas are theirs.
.. [3] K. Murota, "Note on multimodularity and L-convexity", *Mathematics of Operations Research* 30 (2005), 658-661.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

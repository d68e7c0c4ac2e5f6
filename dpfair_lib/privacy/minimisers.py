"""How far one record moves the minimiser of a regularised loss: the sensitivity behind output perturbation."""

from __future__ import annotations

from dpfair_lib.privacy._arguments import positive, positive_integer


def output_perturbation_sensitivity(*, lipschitz: float, strong_convexity: float, n: int) -> float:
    """Return how far the minimiser of a mean of n losses moves, in Euclidean norm, if one record is replaced.

    Parameters
    ----------
    lipschitz : float
        Λ: Euclidean Lipschitz constant, in the parameters, of the losses without the common regulariser.
    strong_convexity : float
        μ: modulus of the mean loss plus regulariser; `dpfair_lib.strong_convexity` has scikit-learn's.
    n : int
        Number of records, public.

    Returns
    -------
    float
        2Λ/(μn).

    Raises
    ------
    ValueError
        If an argument is not positive.

    References
    ----------
    MPBT, § 4.1 and Appendix E; Chaudhuri, Monteleoni and Sarwate (2011).
    """
    modulus = positive(strong_convexity, "strong_convexity")
    return 2 * positive(lipschitz, "lipschitz") / (modulus * positive_integer(n, "n"))

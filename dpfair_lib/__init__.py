"""Privacy and fairness in classification: metrics, private estimators, privacy statements, bounds, and checked claims.

`__init__.pyi` lists the public names. A name is imported when it is first used, so `import dpfair_lib`
is fast and never imports torch.

The library belongs to a book about five documents. Docstrings call them ISIT (Ghoukasian and Asoodeh, Differentially
Private Fair Binary Classifications, ISIT 2024), thesis (Ghoukasian, Classification Algorithms with Differential Privacy
and Fairness Guarantees, 2024), CGKM (Cummings, Gupta, Kimpara and Morgenstern, On the Compatibility of Privacy and
Fairness, 2019), MPBT (Mangold, Perrot, Bellet and Tommasi, Differential Privacy has Bounded Impact on Fairness in
Classification, 2023) and SK (Seiders and Kumar, Differentially Private Fair Support Vector Machines, 2024).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"

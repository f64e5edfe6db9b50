import sys
import warnings

warnings.warn("first")
warnings.warn("old", DeprecationWarning)


def helper():
    warnings.warn("from the caller", UserWarning, stacklevel=2)


helper()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("kept")
    print([str(w.message) for w in caught])
warnings.simplefilter("error")
try:
    warnings.warn("becomes an error", RuntimeWarning)
except RuntimeWarning as error:
    print("raised", error)
print(sys.warnoptions)
"text" is "text"

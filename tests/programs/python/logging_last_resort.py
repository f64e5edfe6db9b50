import logging
import warnings

logging.warning("to stderr by itself")
logging.getLogger("quiet").info("nobody sees this")
logging.captureWarnings(True)
warnings.warn("a warning becomes a log line", stacklevel=1)

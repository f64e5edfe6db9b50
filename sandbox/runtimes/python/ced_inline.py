"""A backend of matplotlib whose windows are what a run displays.

display.py executes this when matplotlib asks for its backend.
"""

from matplotlib.backend_bases import FigureManagerBase as FigureManager
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas


def show(*args, **kwargs):
    show_figures()  # display.py puts it here

import gettext
import locale

print(locale.setlocale(locale.LC_ALL, ""), locale.getlocale(), locale.getpreferredencoding(), locale.localeconv()["decimal_point"])
print(locale.setlocale(locale.LC_ALL, "C"), locale.strxfrm("a") < locale.strxfrm("b"), locale.format_string("%d", 1234567, grouping=True))
try:
    locale.setlocale(locale.LC_ALL, "xx_YY.UTF-8")
except locale.Error as error:
    print(error)
print(gettext.gettext("untranslated"), gettext.ngettext("%d file", "%d files", 2) % 2, gettext.find("nothing"))

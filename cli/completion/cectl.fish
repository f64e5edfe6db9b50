# fish completion for cectl: `cectl complete` knows the words.  Where it knows none, fish offers files.
function __cectl_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answers ($words[1] complete -- $words[2..-1] 2>/dev/null)
    if test (count $answers) -gt 0
        string join \n -- $answers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c cectl -f -a '(__cectl_complete)'

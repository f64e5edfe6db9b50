seq 10 >numbers; split -l 4 numbers part.; wc -l part.*
csplit -s numbers 4 8; head -n 1 xx0*; fold -w 5 <<<abcdefghijkl; fmt -w 20 <<<"some words that are folded here"

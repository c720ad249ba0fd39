# The images that the FROM lines of Dockerfiles name, each once: without earlier stages and scratch,
# with the defaults of ARGs filled in. What has no default stays as it is written.

function expand(text,   out, token, name, default_, at) {
    while (match(text, /\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*/)) {
        out = out substr(text, 1, RSTART - 1)
        token = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        name = token
        gsub(/[${}]/, "", name)
        default_ = token
        if (at = index(name, ":-")) {
            default_ = substr(name, at + 2)
            name = substr(name, 1, at - 1)
        }
        out = out (name in args ? args[name] : default_)
    }
    return out text
}
function instruction(line,   word, count, i, at) {
    count = split(line, word)
    if (toupper(word[1]) == "ARG" && !staged && (at = index(word[2], "="))) {
        i = substr(word[2], at + 1)
        gsub(/["\047]/, "", i)
        args[substr(word[2], 1, at - 1)] = expand(i)
    }
    if (toupper(word[1]) != "FROM") return
    staged = 1
    for (i = 2; word[i] ~ /^--/; i++);
    word[i] = expand(word[i])
    sub(/@sha256:[0-9a-f]+$/, "", word[i]) # a stand-in has the tag alone
    if (word[i] != "scratch" && !(tolower(word[i]) in stages) && !seen[word[i]]++) print word[i]
    if (toupper(word[i + 1]) == "AS") stages[tolower(word[i + 2])]
}
FNR == 1 { split("", args); split("", stages); staged = 0; joined = "" }
/^[ \t]*#/ { next }
{ sub(/\r$/, ""); joined = joined $0 }
sub(/\\[ \t]*$/, " ", joined) { next }
{ instruction(joined); joined = "" }

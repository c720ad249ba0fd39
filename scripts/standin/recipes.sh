# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # text for Dockerfiles; variables of standin-images.sh
# Sourced by standin-images.sh: what each repository's stand-in is made of. A new one is an arm of
# `recipe` and its lines in these tables.

# What each repository needs on this host, and how its stand-in tells its version.
declare -A host_tool=([golang]=go [rust]=rustup [node]=npm ['eclipse-temurin']=java [maven]=mvn)
declare -A version_of=(
    [debian]='echo Debian $(cat /etc/debian_version)'
    [golang]='go env GOVERSION'
    [python]='python -c "import pip, venv" && python --version'
    [rust]='cargo --version >&2 && rustc --version'
    [node]='npm --version >&2 && node --version'
    ['eclipse-temurin']='java --version | head -n 1'
    [maven]='echo $(mvn --version | grep -o "Apache Maven [0-9.]*"), $(java --version | head -n 1)'
)
known='debian golang python rust node eclipse-temurin maven'

# Sets what goes on top of the base: `packages` from Debian, `copies` of this host's files
# (FROM=TO), `excludes` from these, and `lines`, the rest of the Dockerfile.
recipe() { # repository, tag
    local home rustup toolchain npm
    packages='' copies=() excludes=() lines=''
    [[ $2 == *slim* ]] || packages=$compilers
    case $1 in
    debian) packages='' ;;
    golang)
        home=$(cd / && go env GOROOT)
        copies=("$home=/usr/local/go")
        excludes=("$home"/{test,doc,api,misc,pkg/obj})
        lines="ENV GOPATH=/go GOTOOLCHAIN=local PATH=/go/bin:/usr/local/go/bin:$system_path
            RUN mkdir -p /go/src /go/bin && chmod -R 1777 /go
            WORKDIR /go"
        ;;
    python)
        # Debian's Python is the same on every host, and optimised, which a locally compiled one
        # seldom is. The links put it where the official image has it; without the marker pip
        # installs into the system's site-packages, as it does there.
        packages="python3 python3-pip python3-venv tzdata${packages:+ python3-dev $packages}"
        lines='ENV LANG=C.UTF-8
            RUN rm -f /usr/lib/python3*/EXTERNALLY-MANAGED \
             && for tool in python3 pip3 pydoc3; do \
                  ln -s /usr/bin/$tool /usr/local/bin/$tool && ln -s $tool /usr/local/bin/${tool%3}; done \
             && cd /usr/local/lib/python3.11 && ln -s dist-packages site-packages
            CMD ["python3"]'
        ;;
    rust)
        rustup=$(readlink -f "$(command -v rustup)")
        toolchain=$(cd / && rustup show active-toolchain | awk '{ print $1 }')
        home=$(cd / && rustc --print sysroot)
        copies=("$home=/usr/local/rustup/toolchains/$toolchain" "$rustup=/usr/local/cargo/bin/rustup")
        excludes=("$home"/share/{doc,man})
        packages=${packages:-gcc libc6-dev}
        lines="ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$system_path
            RUN cd /usr/local/cargo/bin && for tool in cargo rustc rustdoc rustfmt cargo-fmt cargo-clippy clippy-driver; do \\
                  ln -s rustup \$tool; done && rustup default $toolchain && chmod a+w /usr/local/cargo"
        ;;
    node)
        npm=$(readlink -f "$(command -v npm)")
        npm=${npm%/bin/*}
        home=$(readlink -f "$(command -v node)")
        copies=("$home=/usr/local/bin/node" "$npm=/usr/local/lib/node_modules/npm")
        home=${home%/bin/*}/include/node
        # The C headers, which node-gyp would otherwise fetch from outside the package registry.
        [[ ! -d $home ]] || copies+=("$home=/usr/local/include/node")
        [[ ! -d $home ]] || lines='ENV npm_config_nodedir=/usr/local'
        lines+='
            RUN cd /usr/local/bin && ln -s node nodejs && ln -s ../lib/node_modules/npm/bin/npm-cli.js npm \
             && ln -s ../lib/node_modules/npm/bin/npx-cli.js npx \
             && groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
            CMD ["node"]'
        ;;
    eclipse-temurin | maven)
        packages=''
        home=$("${JAVA_HOME:+$JAVA_HOME/bin/}java" -XshowSettings:properties -version 2>&1 |
            awk '$1 == "java.home" { print $3 }')
        copies=("$home=/opt/java/openjdk")
        excludes=("$home"/{docs,man,lib/src.zip})
        lines="ENV JAVA_HOME=/opt/java/openjdk PATH=/opt/java/openjdk/bin:$system_path LANG=C.UTF-8
            RUN for file in /usr/local/share/ca-certificates/*.crt; do [ ! -e \$file ] || keytool -importcert \\
                  -noprompt -cacerts -storepass changeit -alias \$(basename \$file) -file \$file; done"
        [[ $1 == maven ]] || return 0
        packages='curl git'
        home=$(mvn --version 2>/dev/null | awk '/^Maven home:/ { print $3 }')
        copies+=("$home=/usr/share/maven")
        lines+='
            ENV MAVEN_HOME=/usr/share/maven
            RUN ln -s /usr/share/maven/bin/mvn /usr/bin/mvn
            CMD ["mvn"]'
        ;;
    esac
}

# shellcheck shell=bash disable=SC2154 # the variables are those of standin-images.sh
# Sourced by standin-images.sh: the base of all stand-ins, a Debian bookworm with this host's mirror
# and certificates, made by debootstrap.

# "deb URI SUITE COMPONENT" for each of the host's Debian bookworm sources.
host_sources() {
    command -v apt-get >/dev/null || return 0
    # shellcheck disable=SC2016 # apt-get fills these in
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk '$3 ~ /^bookworm(-updates|-security)?$/ && $4 ~ /^(main|contrib|non-free|non-free-firmware)$/ && !seen[$0]++'
}

# Everything that comes before the toolchain, made once and kept.
make_base() {
    local rootfs=$work/rootfs began=$SECONDS sources mirror
    [[ $(id -u) -eq 0 ]] || fail 3 'debootstrap needs root: run this as root, once'
    command -v debootstrap >/dev/null || fail 3 'no debootstrap: apt-get install debootstrap'
    sources=$(host_sources)
    mirror=$(awk '$3 == "bookworm" { print $2; exit }' <<<"$sources")
    # In its own mount namespace debootstrap cannot leave mounts behind.
    quietly debootstrap unshare --mount --pid --fork --kill-child debootstrap --variant=minbase \
        --include=ca-certificates bookworm "$rootfs" ${mirror:+"$mirror"}
    [[ -z $sources ]] || printf '%s\n' "$sources" >"$rootfs/etc/apt/sources.list"
    take_over_certificates "$rootfs"
    slim_down "$rootfs"
    quietly 'docker import' import_base "$rootfs"
    rm -rf --one-file-system "$rootfs"
    printf '%s: built in %d s (the base of all stand-ins)\n' "$base" $((SECONDS - began))
}

# The host's own certificates also go where update-ca-certificates takes them from: installing
# ca-certificates in a Dockerfile would otherwise write the bundle anew without them.
take_over_certificates() { # rootfs
    [[ -r $bundle ]] || return 0
    awk -v directory="$1/usr/local/share/ca-certificates" '
        /BEGIN CERTIFICATE/ { pem = ""; inside = 1 }
        inside { pem = pem $0 "\n" }
        /END CERTIFICATE/ {
            inside = 0
            if (FILENAME != ARGV[1] && !(pem in seen)) {
                file = directory "/host-" ++count ".crt"
                printf "%s", pem >file
                close(file)
            }
            seen[pem]
        }' "$1$bundle" "$bundle"
    quietly update-ca-certificates chroot "$1" /usr/bin/env "PATH=$system_path" update-ca-certificates
    cp "$bundle" "$1$bundle"
}

# As the official images have it: no services started, no package archives and no manuals kept. apt's
# hook says || true, as theirs does: packages that could not be cleaned up after are installed all the same.
slim_down() { # rootfs
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
    printf 'path-exclude /usr/share/%s/*\n' doc man info locale >"$1/etc/dpkg/dpkg.cfg.d/docker"
    printf 'path-include /usr/share/doc/*/copyright\n' >>"$1/etc/dpkg/dpkg.cfg.d/docker"
    printf 'force-unsafe-io\n' >"$1/etc/dpkg/dpkg.cfg.d/docker-apt-speedup"
    printf 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };\n' \
        >"$1/etc/apt/apt.conf.d/docker-clean"
    rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{man,info,locale}/* \
        "$1"/var/log/*.log "$1"/etc/hostname "$1"/etc/resolv.conf
    find "$1/usr/share/doc" ! -type d ! -name copyright -delete
}

import_base() { # rootfs
    local changes=("LABEL $label=true" "LABEL $label.of=$base" "LABEL $label.provides=debootstrap"
        'CMD ["bash"]' "ENV PATH=$system_path")
    local name
    # For the tools which do not read the system's bundle by themselves.
    for name in SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS CARGO_HTTP_CAINFO GIT_SSL_CAINFO; do
        changes+=("ENV $name=$bundle")
    done
    tar -C "$1" --one-file-system --numeric-owner -c . | docker import "${changes[@]/#/--change=}" - "$base"
}

# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # vm sets the options
#
# initramfs.sh - the guest's file tree; read by tools/vm/vm.
# Two archives, one behind the other: a base made once per set of host tools,
# and what this run adds.

base_tools=(/bin/busybox /bin/bash /usr/bin/timeout /usr/bin/env)

# put HOST GUEST: copy a file below "tree"; /lib and /bin are links there.
put() {
	local to=$2

	case $to in
	/bin/*|/sbin/*|/lib/*|/lib64/*)	to=/usr$to ;;
	esac
	mkdir -p "$tree$(dirname "$to")"
	[ -e "$tree$to" ] || cp -L --preserve=mode,timestamps "$1" "$tree$to"
}

# The libraries and the loader of the ELF file $1, as absolute paths.
libraries_of() {
	ldd "$1" 2>/dev/null |
		sed -n 's|^\t\(.* => \)\{0,1\}\(/[^ ]*\) (0x.*|\2|p' || true
}

# What file $1 needs to run: libraries, or the interpreter of a script.
put_needs() {
	local magic lib interpreter

	IFS= read -r -d '' -n 4 magic <"$1" || true
	case $magic in
	$'\x7fELF')
		for lib in $(libraries_of "$1"); do
			put "$lib" "$lib"
		done
		;;
	'#!'*)	read -r interpreter _ < <(head -n 1 "$1" | cut -c3- | tr -d '\0')
		case $interpreter in
		/bin/sh|/bin/bash|/usr/bin/env|/bin/busybox|'') return 0 ;;
		esac
		[ -x "$interpreter" ] || return 0
		put "$interpreter" "$interpreter"
		put_needs "$interpreter"
		;;
	esac
}

# add HOST[:GUEST]
add() {
	local host=${1%%:*} guest=${1#*:} file

	host=$(realpath -s -- "$host")
	[ "$1" != "${1%%:*}" ] || guest=$host
	if [ ! -d "$host" ]; then
		put "$host" "$guest"
		put_needs "$host"
		return
	fi
	mkdir -p "$tree$guest"
	cp -a -- "$host/." "$tree$guest/"
	while IFS= read -r -d '' file; do
		put_needs "$file"
	done < <(find -L "$host" -type f -print0)
}

# archive FILE: "tree" as root's, in the form the kernel unpacks.
archive() {
	(cd "$tree" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --quiet -0 -o -H newc -R 0:0 --reproducible) >"$1"
}

build_base() {
	local tree=$1.tree.$$ tool name

	mkdir -p "$tree"/{dev,etc,proc,root,run,sys,tmp,vm,usr/{bin,sbin,lib,lib64}}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$tree/$name"
	done
	for tool in "${base_tools[@]}"; do
		put "$tool" "$tool"
		put_needs "$tool"
	done
	for name in $(busybox --list); do
		[ -e "$tree/usr/bin/$name" ] ||
			ln -s busybox "$tree/usr/bin/$name"
	done
	echo 'root::0:0:root:/root:/bin/bash' >"$tree/etc/passwd"
	echo 'nobody:x:65534:65534:nobody:/:/bin/sh' >>"$tree/etc/passwd"
	printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$tree/etc/group"
	install -m 755 "$here/init" "$tree/init"
	archive "$1.tmp.$$"
	mv "$1.tmp.$$" "$1"
	rm -rf "$tree"
}

# Prints the path of the base archive, made when a tool or a rule changed.
base_archive() {
	local cache=${UPOOL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/upool} key file

	key=$({
		stat -L -c '%n %s %Y' "${base_tools[@]}" /lib/x86_64-linux-gnu/libc.so.6
		cat "$here/init" "$here/initramfs.sh"
	} | sha256sum | cut -c1-12)
	file=$cache/initramfs-$key.cpio
	if [ ! -e "$file" ]; then
		mkdir -p "$cache"
		build_base "$file"
	fi
	echo "$file"
}

add_modules() {
	local i dir

	for ((i = 0; i < ${#modules[@]}; i++)); do
		dir=$tree/vm/modules/$(printf %03d "$i")
		mkdir -p "$dir"
		cp -L -- "${modules[i]}" "$dir/"
		printf '%s\n' "${module_args[i]}" >"$dir/args"
	done
}

# make_initramfs FILE: the whole of it, from vm's options.
make_initramfs() {
	local base tree=$tmp/tree item

	base=$(base_archive)
	mkdir -p "$tree/vm"
	add_modules
	for item in "${adds[@]}"; do
		add "$item"
	done
	for item in "${gets[@]}"; do
		item=${item%%:*}
		echo "${item#/}"
	done >"$tree/vm/get"
	[ "$kmemleak" = 0 ] || : >"$tree/vm/kmemleak"
	[ "$shell" = 0 ] || : >"$tree/vm/shell"
	printf '%q ' "${command[@]}" >"$tree/vm/command"
	archive "$tmp/added"
	cat "$base" "$tmp/added" >"$1"
	rm -rf "$tree" "$tmp/added"
}

# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# kernel-build.sh - the kernels made from source; read by tools/vm/kernel,
# whose cache, locks and messages it uses.

: "${cache:?}" "${kconfig:?}" "${stale:?}"
source_package=linux-source-6.12
fragments=(base.config debug-common.config kasan.config)

# Raise when this file builds differently from the same inputs.
recipe=1

source_entry() {
	local version

	version=$(version_of "$source_package")
	[ -n "$version" ] ||
		die "apt does not know $source_package" "$stale"
	echo "$cache/source-$version"
}

# Other architectures and drivers that tinyconfig never builds are left out:
# a third of the size and half of the time.
source_excludes() {
	local a d

	printf '%s\n' '*/Documentation/*.*' '*/sound/*.[ch]'
	for d in gpu net/ethernet net/wireless media infiniband staging scsi; do
		echo "*/drivers/$d/*.[ch]"
	done
	for a in alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips \
		nios2 openrisc parisc powerpc riscv s390 sh sparc xtensa; do
		echo "*/arch/$a/*.[chSd]*"
	done
}

unpack_source() {
	local entry=$1 tmp=$1.tmp.$$ member

	[ ! -e "$entry" ] || return 0
	sweep "$entry"
	mkdir -p "$tmp/deb" "$tmp/tree"
	fetch "$tmp/deb" "$source_package"
	say "unpacking $source_package"
	member=./usr/src/$source_package.tar.xz
	dpkg-deb --fsys-tarfile "$tmp"/deb/*.deb | tar -xO "$member" |
		tar -xJ -C "$tmp/tree" --strip-components=1 --wildcards \
			-X <(source_excludes)
	mv "$tmp/tree" "$entry"
	rm -rf "$tmp"
}

source_tree() {
	local entry

	entry=$(source_entry)
	with_lock "${entry##*/}" unpack_source "$entry"
	echo "$entry"
}

# debug_entry PREFIX COMPILER: where the build of these very inputs lives.
debug_entry() {
	local src key

	src=$(source_entry)
	key=$({
		printf '%s\n' "${src##*/source-}" "$recipe"
		"$2" --version | head -n 1
		cat "${fragments[@]/#/$kconfig/}"
	} | sha256sum | cut -c1-12)
	echo "$cache/$1-$key"
}

kmake() {
	nice make -s -j"$(nproc)" ARCH=x86_64 KBUILD_BUILD_USER=upool \
		KBUILD_BUILD_HOST=upool KBUILD_BUILD_TIMESTAMP=@0 "$@" >&2
}

# Every option of the fragments must have survived olddefconfig.
check_config() {
	local config=$1 bad=0 line name

	while read -r line; do
		case $line in
		'# CONFIG_'*' is not set')
			name=${line#\# }
			name=${name%% *}
			;;
		CONFIG_*=n)	name=${line%=n} ;;
		CONFIG_*)	grep -qxF "$line" "$config" && continue
				say "wanted in the configuration, but absent: $line"
				bad=1
				continue ;;
		*)		continue ;;
		esac
		if grep -q "^$name=" "$config"; then
			say "unwanted in the configuration: $name"
			bad=1
		fi
	done < <(cat "${fragments[@]/#/$kconfig/}")
	[ "$bad" = 0 ] || die "the fragments do not fit this kernel"
}

# configure SOURCE OBJ [MAKE-ARGUMENT...]
configure() {
	local src=$1 obj=$2

	shift 2
	mkdir -p "$obj"
	kmake -C "$src" O="$obj" "$@" tinyconfig
	(cd "$obj" && "$src/scripts/kconfig/merge_config.sh" -m .config \
		"${fragments[@]/#/$kconfig/}" >merge.log)
	kmake -C "$obj" "$@" olddefconfig
	check_config "$obj/.config"
}

# Built in place (its rules hold absolute paths): .done tells a complete one,
# and an interrupted build goes on where it stopped.
build_debug() {
	local obj=$1 src=$2

	[ ! -e "$obj/.done" ] || return 0
	say "building the debug kernel (about 20 minutes of CPU)"
	configure "$src" "$obj"
	kmake -C "$obj" bzImage modules
	touch "$obj/.done"
}

prepare_clang() {
	local obj=$1 src=$2 symvers=$3

	[ ! -e "$obj/.done" ] || return 0
	say "preparing the debug configuration for clang"
	configure "$src" "$obj" LLVM=1
	kmake -C "$obj" LLVM=1 modules_prepare
	cp "$symvers" "$obj/Module.symvers"
	touch "$obj/.done"
}

need_tools() {
	local t

	for t in "$@"; do
		command -v "$t" >/dev/null ||
			die "$t is missing: run tools/setup --profile check"
	done
}

debug_tree() {
	local src obj

	need_tools gcc make flex bison bc lz4
	src=$(source_tree)
	obj=$(debug_entry debug gcc)
	with_lock "${obj##*/}" build_debug "$obj" "$src"
	echo "$obj"
}

clang_tree() {
	local src obj symvers

	need_tools clang ld.lld llvm-ar
	symvers=$(debug_tree)/Module.symvers
	src=$(source_tree)
	obj=$(debug_entry debug-clang clang)
	with_lock "${obj##*/}" prepare_clang "$obj" "$src" "$symvers"
	echo "$obj"
}

# shellcheck shell=bash
# What the scripts beside this file and .ci/run share: find PostgreSQL, install
# what is missing, build, and run a throw-away server that is gone afterwards.
#
# The caller sets -euo pipefail, sources this file and then calls, in order:
#   begin                 work folder and clean-up
#   choose_postgres       which PostgreSQL; sets pg_config, bindir, pg_major
#   install_missing ...   packages through apt; arguments are further packages
#   build_and_install     make, make install
#   start_server          data folder, socket and port of its own
#
# Nothing here touches a cluster or service of the machine: the server is found
# by its private socket folder only, and listens on no TCP address.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
make=${MAKE:-make}
asked_pg_config=${PG_CONFIG:-}

# PGHOST, PGDATABASE, PGOPTIONS, PGSERVICE ... of the caller would send the tests
# to another server.  PG_CFLAGS and its like are for make and stay.
for variable in "${!PG@}"; do
	[[ $variable == PG_* ]] || unset "$variable"
done
# The make that called us passes its own flags on; ours takes arguments instead.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES PG_CONFIG
# One locale for messages, sort order and the encoding of test servers.
for variable in "${!LC_@}"; do unset "$variable"; done
unset LANGUAGE variable
export LANG=C.UTF-8
umask 022

debian=/usr/lib/postgresql # Debian's layout: $debian/<major>/bin
work=
job=
cluster_guard=
server_user=

say() { printf '%s\n' "$*"; }

die() {
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	shift
	if (($#)); then printf '%s\n' "$@" >&2; fi
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }

# --- rights -------------------------------------------------------------------

# Without a terminal a password cannot be typed: then sudo must not ask for one.
as_root() {
	if is_root; then
		"$@"
	elif [ -t 0 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

can_be_root() { is_root || { have sudo && as_root true 2>/dev/null; }; }

# initdb and postgres refuse root.  setpriv, unlike su or runuser, becomes the
# command itself: a signal to the process group reaches it, and no PAM session
# stays behind.
as_server() {
	if is_root; then
		setpriv --reuid="$server_user" --regid="$(id -g "$server_user")" --init-groups -- \
			env HOME="$work/pg" USER="$server_user" LOGNAME="$server_user" TMPDIR="$work/pg/tmp" "$@"
	else
		env TMPDIR="$work/pg/tmp" "$@"
	fi
}

# A long command as a process group of its own.  Waiting for it, the shell
# answers signals at once, and the clean-up can end the group as a whole.
run_job() {
	local status=0
	set -m
	"$@" </dev/null &
	job=$!
	set +m
	wait "$job" || status=$?
	job=
	return "$status"
}

# What the tests said, as the last line tells it.
passed=0
failed=0
skipped=0

# A part of a larger run, whose output is shown and whose last count is added.
# One that fails, or that counts nothing as it should, is a failure itself.
# Arguments: name of its log, command.
counted() {
	local log=$work/log/$1 status=0 out reader count line
	shift
	exec {out}> >(tee "$log")
	reader=$!
	run_job "$@" >&"$out" 2>&1 || status=$?
	exec {out}>&-
	wait "$reader" || true
	count='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'
	line=$(grep -E "$count" "$log" | tail -n 1 || true)
	if [[ $line =~ $count ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
		if ((status == 0 || BASH_REMATCH[2] > 0)); then return "$status"; fi
	fi
	say "failed with status $status: $*"
	failed=$((failed + 1))
	return 1
}

# The closing line, and whether all is well.
say_count() {
	if ((passed + failed == 0)); then
		failed=1
		say "there was no test to run"
	fi
	if ((skipped)); then
		say "$passed passed, $failed failed, $skipped skipped"
	else
		say "$passed passed, $failed failed"
	fi
	((failed == 0))
}

# A command whose output is only worth reading when it fails.
quietly() {
	local log=$work/log/$1 status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	if ((status)); then
		say "--- failed with status $status: $*"
		cat "$log"
		say "--- end of the log"
	fi
	return "$status"
}

# --- work folder and clean-up ---------------------------------------------------

# root's own TMPDIR may be closed to the server's user, and the path of a socket
# ends at 107 bytes; /tmp is neither.
pick_base() {
	local base=${TMPDIR:-/tmp}
	if [[ ! $base =~ ^/[A-Za-z0-9_./-]{0,40}$ ]] || [ ! -w "$base" ]; then
		base=/tmp
	elif is_root && ! setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		test -x "$base" -a -r "$base"; then
		base=/tmp
	fi
	printf '%s\n' "$base"
}

begin() {
	work=$(mktemp -d "$(pick_base)/bloomfilter-XXXXXX")
	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	mkdir "$work/log" "$work/pg" "$work/pg/tmp"
	chmod 755 "$work"
	# The folder we were called in may be closed to the server's user.
	cd "$work" || exit
}

clean_up() {
	local status=$? pidfile
	trap - EXIT
	trap '' HUP INT TERM # a second Ctrl-C must not leave a server running
	set +e
	if [ -n "$job" ]; then
		kill -TERM -- "-$job" 2>/dev/null
		wait "$job" 2>/dev/null
	fi
	# Ours, and those of TAP tests that could not stop theirs.
	find "$work/pg" -name postmaster.pid 2>/dev/null | while IFS= read -r pidfile; do
		as_server "$bindir/pg_ctl" -D "${pidfile%/*}" -m immediate -w stop >/dev/null 2>&1
	done
	drop_cluster_guard
	cd /
	if [ -n "${KEEP:-}" ]; then
		say "kept: $work"
	else
		rm -rf "$work"
	fi
	exit "$status"
}

# --- which PostgreSQL -----------------------------------------------------------

has_headers() {
	[ -f "$debian/$1/lib/pgxs/src/makefiles/pgxs.mk" ] && [ -f "/usr/include/postgresql/$1/server/postgres.h" ]
}
has_server() { [ -x "$debian/$1/bin/postgres" ]; }

# Debian's versions on this machine, newest first.
debian_majors() {
	local folder
	for folder in "$debian"/*/bin; do
		[ -d "$folder" ] || continue
		folder=${folder%/bin}
		printf '%s\n' "${folder##*/}"
	done | sort -rn
}

# The version to take when nobody named one, and why; sets pg_major, reason.
choose_debian_major() {
	local major
	pg_major=
	for major in $(debian_majors); do
		if has_headers "$major" && has_server "$major"; then
			pg_major=$major reason="the newest with its headers"
			return
		fi
	done
	for major in $(debian_majors); do
		if has_headers "$major"; then
			pg_major=$major reason="its headers are here"
			return
		fi
	done
	for major in $(debian_majors); do
		if has_server "$major"; then
			pg_major=$major reason="the newest server; its headers are missing"
			return
		fi
	done
	reason="the system's default"
}

# Sets pg_config, pg_major and reason.  A Debian version may still lack packages;
# pg_config is empty when there is no PostgreSQL at all.
choose_postgres() {
	local found others
	pg_config='' pg_major='' reason=''
	if [ -n "$asked_pg_config" ] && [ "$asked_pg_config" != pg_config ]; then
		reason="PG_CONFIG says so"
		if [[ $asked_pg_config =~ ^$debian/([0-9]+)/bin/pg_config$ ]]; then
			pg_major=${BASH_REMATCH[1]}
		elif ! pg_config=$(command -v "$asked_pg_config"); then
			die "PG_CONFIG=$asked_pg_config: there is no such program"
		fi
	else
		# One in front of Debian's in PATH was put there on purpose.
		found=$(command -v pg_config || true)
		if [ -n "$found" ] && [ "$found" != /usr/bin/pg_config ] && [ "$found" != /bin/pg_config ]; then
			pg_config=$found reason="the first pg_config in PATH"
		fi
	fi
	if [ -n "$pg_config" ]; then
		found=$("$pg_config" --bindir) || die "PG_CONFIG=$pg_config does not answer --bindir"
		if [[ $found =~ ^$debian/([0-9]+)/bin$ ]]; then
			pg_major=${BASH_REMATCH[1]}
		fi
	elif [ -z "$pg_major" ]; then
		choose_debian_major
	fi
	if [ -n "$pg_major" ]; then
		pg_config=$debian/$pg_major/bin/pg_config
	fi
	others=$(debian_majors | grep -vx "${pg_major:-none}" | paste -sd ' ' || true)
	other_versions=${others:+; also here: $others, chosen with PG_CONFIG=$debian/<version>/bin/pg_config}
}

# After the packages: is everything there that pg_config promises?
check_postgres() {
	[ -x "$pg_config" ] || die "no pg_config at $pg_config"
	bindir=$("$pg_config" --bindir)
	pgxs=$("$pg_config" --pgxs)
	pg_src=${pgxs%/makefiles/pgxs.mk}
	pg_regress=$pg_src/test/regress/pg_regress
	if [ ! -f "$("$pg_config" --includedir-server)/postgres.h" ] || [ ! -f "$pgxs" ]; then
		die "$pg_config has no server headers" \
			"Install the development files of this PostgreSQL, or name another one: PG_CONFIG=/path/to/pg_config"
	fi
	if [ ! -x "$bindir/postgres" ] || [ ! -x "$bindir/initdb" ]; then
		die "there is no server in $bindir"
	fi
	if is_root; then
		server_user=postgres
		id -u postgres >/dev/null 2>&1 || server_user=nobody
		chown "$server_user:" "$work/pg" "$work/pg/tmp"
	fi
	say "$("$pg_config" --version), $pg_config ($reason$other_versions)"
}

# --- packages -------------------------------------------------------------------

# What apt's own lists call the default version.
default_major() {
	apt-cache show postgresql 2>/dev/null |
		sed -n 's/^Depends:.*postgresql-\([0-9][0-9]*\).*/\1/p' | sort -rn | head -n 1
}

# Prints the packages that are missing of these, told as COMMAND=PACKAGE (missing
# when there is no such command or file) or perl:MODULE=PACKAGE.
missing_things() {
	local pair thing
	for pair in "$@"; do
		thing=${pair%%=*}
		case $thing in
			perl:*) have perl && perl "-M${thing#perl:}" -e 1 2>/dev/null || printf '%s\n' "${pair#*=}" ;;
			/*) [ -e "$thing" ] || printf '%s\n' "${pair#*=}" ;;
			*) have "$thing" || printf '%s\n' "${pair#*=}" ;;
		esac
	done
}

# The same, and what the chosen PostgreSQL lacks.
missing_packages() {
	{
		missing_things "$@"
		if [ -n "$pg_major" ]; then
			has_server "$pg_major" || printf '%s\n' "postgresql-$pg_major"
			has_headers "$pg_major" || printf '%s\n' "postgresql-server-dev-$pg_major"
		elif [ -z "$pg_config" ]; then
			printf '%s\n' postgresql postgresql-server-dev-all
		fi
	} | sort -u
}

# Before packages are installed.  Arguments: the packages.
prepare_apt() {
	have apt-get || die "these packages are missing, and there is no apt to install them: $*" \
		"Install what they contain and name your PostgreSQL: PG_CONFIG=/path/to/pg_config"
	can_be_root || die "packages are missing. Run this as root, then try again:" "" \
		"  apt-get update && apt-get install -y --no-install-recommends $*" ""
	# A new machine may have no lists yet, and old lists name versions that
	# are gone.  Some other source that does not answer is not our business.
	as_root apt-get update -q >"$work/log/apt-update" 2>&1 || true
}

apt_install() {
	say "installing $*"
	raise_cluster_guard
	quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		--no-install-recommends -o DPkg::Lock::Timeout=300 "$@" ||
		die "apt could not install: $*" "$(tail -n 5 "$work/log/apt-update")"
	drop_cluster_guard
	hash -r
}

# Tools that are no part of PostgreSQL.
install_tools() {
	local packages
	mapfile -t packages < <(missing_things "$@" | sort -u)
	((${#packages[@]})) || return 0
	prepare_apt "${packages[@]}"
	apt_install "${packages[@]}"
}

# The compiler with its headers, make and the chosen PostgreSQL.
install_missing() {
	local packages
	local wanted=("$make=make" gcc=gcc /usr/include/stdio.h=libc6-dev "$@")
	mapfile -t packages < <(missing_packages "${wanted[@]}")
	if ((${#packages[@]})); then
		prepare_apt "${packages[@]}"
		if [ -z "$pg_config" ]; then
			pg_major=$(default_major)
			[ -n "$pg_major" ] || die "apt knows no package named postgresql"
			pg_config=$debian/$pg_major/bin/pg_config
			mapfile -t packages < <(missing_packages "${wanted[@]}")
		fi
		apt_install "${packages[@]}"
	fi
	check_postgres
}

# Debian creates and starts a cluster when a server package is installed for the
# first time.  Nobody asked us for one, so a file beside Debian's settings forbids
# it as long as apt runs.
raise_cluster_guard() {
	local folder=/etc/postgresql-common/createcluster.d
	cluster_guard=$folder/bloomfilter-test-$$.conf
	as_root mkdir -p "$folder"
	printf 'create_main_cluster = false\n' | as_root tee "$cluster_guard" >/dev/null
}

drop_cluster_guard() {
	local folder=${cluster_guard%/*}
	[ -n "$cluster_guard" ] || return 0
	as_root rm -f "$cluster_guard"
	# Only empty folders go: those that were made for the file.
	as_root rmdir --ignore-fail-on-non-empty "$folder" "${folder%/*}" 2>/dev/null || true
	cluster_guard=
}

# --- build ----------------------------------------------------------------------

# make for the chosen PostgreSQL, in the folder that is built.
pg_make() { "$make" --no-print-directory -C "$build" PG_CONFIG="$pg_config" "${make_flags[@]}" "$@"; }

# The optional extension, unless the caller says no.
with_redis() { [ "${WITH_REDIS:-yes}" != no ]; }

# What it and its tests need, for install_missing.  redis-tools has the server's
# program too, under the name of a checker, and starts no service as redis-server
# would.  Without the last three TLS would be neither built nor tested.
redis_packages=()
if with_redis; then
	redis_packages=(/usr/include/hiredis/hiredis.h=libhiredis-dev redis-check-rdb=redis-tools
		pkg-config=pkgconf /usr/include/openssl/ssl.h=libssl-dev openssl=openssl)
fi

# Bitcode for the JIT needs the clang that the server was built with, which not
# every Debian release installs along with the headers.
set_make_flags() {
	local clang
	make_flags=("WITH_REDIS=$(with_redis && echo yes || echo no)")
	clang=$(sed -n 's/^CLANG *= *//p' "$pg_src/Makefile.global")
	if [ -n "$clang" ] && ! have "$clang"; then
		make_flags+=(with_llvm=no)
	fi
}

# What was installed by somebody with more rights is as good as our own.
is_installed() {
	local share file
	share=$("$pg_config" --sharedir)/extension
	cmp -s "$build/bloomfilter.so" "$("$pg_config" --pkglibdir)/bloomfilter.so" || return 1
	cmp -s "$build/bloomfilter.control" "$share/bloomfilter.control" || return 1
	if with_redis; then
		cmp -s "$build/redis/bloomfilter_redis.so" "$("$pg_config" --pkglibdir)/bloomfilter_redis.so" || return 1
		cmp -s "$build/redis/bloomfilter_redis.control" "$share/bloomfilter_redis.control" || return 1
	fi
	for file in "$build"/sql/*.sql "$build"/redis/sql/*.sql; do
		if [[ $file != */bloomfilter*--* ]] || [ ! -f "$file" ]; then continue; fi
		cmp -s "$file" "$share/${file##*/}" || return 1
	done
}

build_and_install() {
	local lock
	set_make_flags
	build=$root
	if [ ! -w "$root" ]; then
		build=$work/build
		cp -R "$root" "$build"
	fi
	# Two runs in one folder would build into each other.
	exec {lock}<"$build"
	flock "$lock"
	quietly build pg_make -s "-j$(nproc)" all || die "the build failed"
	if [ -w "$("$pg_config" --pkglibdir)" ] && [ -w "$("$pg_config" --sharedir)/extension" ]; then
		quietly install pg_make install || die "make install failed"
	elif can_be_root; then
		quietly install as_root "$make" --no-print-directory -C "$build" \
			PG_CONFIG="$pg_config" "${make_flags[@]}" install || die "make install failed"
	elif ! is_installed; then
		die "this user may not install into $("$pg_config" --pkglibdir). Run this as root, then try again:" "" \
			"  make -C $root PG_CONFIG=$pg_config install" ""
	fi
	exec {lock}<&-
}

# --- server ---------------------------------------------------------------------

# No TCP is used, so a port is only a number in a socket's name.  One that nobody
# uses all the same: a tool that forgets the socket folder then finds no server
# instead of a wrong one.
free_port() {
	local candidate
	while :; do
		candidate=$((20000 + RANDOM % 30000))
		if [ ! -e "/tmp/.s.PGSQL.$candidate" ] && [ ! -e "/var/run/postgresql/.s.PGSQL.$candidate" ] &&
			! (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null; then
			printf '%s\n' "$candidate"
			return
		fi
	done
}

# Arguments: further lines for postgresql.conf.
start_server() {
	local attempt
	socket=$work/pg/socket
	data=$work/pg/data
	server_log=$work/pg/server.log
	as_server mkdir -m 700 "$socket"
	quietly initdb as_server "$bindir/initdb" -D "$data" -U postgres -A trust \
		-E UTF8 --locale=C.UTF-8 --no-sync || die "initdb failed"
	for attempt in 1 2 3 4 5; do
		port=$(free_port)
		{
			printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$socket'" "port = $port" \
				"fsync = off" "synchronous_commit = off" "log_checkpoints = off" "lc_messages = 'C'"
			if (($#)); then printf '%s\n' "$@"; fi
		} | as_server tee -a "$data/postgresql.conf" >/dev/null
		if as_server "$bindir/pg_ctl" -D "$data" -l "$server_log" -w -t 120 start \
			>"$work/log/pg_ctl" 2>&1 </dev/null; then
			return
		fi
		grep -qs 'could not bind\|already in use\|could not create lock file' "$server_log" || break
	done
	cat "$work/log/pg_ctl" "$server_log" 2>/dev/null || true
	die "the throw-away server did not start (attempt $attempt)"
}

# psql that stops at the first error and reads nobody's settings.
sql() {
	as_server "$bindir/psql" -X -q -v ON_ERROR_STOP=1 -h "$socket" -p "$port" -U postgres "$@"
}

# --- tests ----------------------------------------------------------------------

# The checkout may lie where the server's user may not look, below /root say.
copy_tests() {
	local part
	run=$work/pg/run
	mkdir "$run"
	for part in test expected sql redis doc README.md README.zh-CN.md CHANGELOG.md LICENSE bloomfilter.control; do
		if [ -e "$root/$part" ]; then cp -R "$root/$part" "$run/"; fi
	done
	if with_redis; then
		# redis-server is redis-check-rdb by another name
		mkdir "$run/bin"
		have redis-server || ln -s "$(command -v redis-check-rdb)" "$run/bin/redis-server"
		quietly standin "$make" --no-print-directory -s -C "$build/redis/test" PG_CONFIG="$pg_config" ||
			die "the stand-in for RedisBloom did not build"
		cp "$build/redis/test/standin.so" "$run/redis/test/"
	fi
	if is_root; then chown -R "$server_user:" "$run"; fi
}

# The project as it is, for a build elsewhere: no history, nothing that was built.
# Arguments: an empty folder.
copy_project() {
	tar -C "$root" --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude=./.built-for -cf - . |
		tar -C "$1" --no-same-owner -xf -
}

run_in() { cd "$1" && shift && as_server "$@"; }

# The environment is that of PGXS' prove_installcheck; the names differ between
# server versions, and one that a version does not know does no harm.
# Arguments: files below the project's folder, without their .pl.
run_tap() {
	local log=$work/log/tap name good bad status=0
	run_job run_in "$run" env PATH="$bindir:$PATH:$run/bin" TESTDIR="$run" \
		TESTLOGDIR="$run/tmp_check/log" TESTDATADIR="$run/tmp_check" PGPORT=65432 \
		PG_REGRESS="$pg_regress" share_contrib_dir="$("$pg_config" --sharedir)/extension" \
		prove --verbose --nocolor -I "$pg_src/test/perl" -I "$run/test" -I "$run/redis/test" \
		"${@/%/.pl}" >"$log" 2>&1 || status=$?
	good=$(grep -E '^ok [0-9]+' "$log" | grep -ciEv '# skip' || true)
	skipped=$(grep -ciE '^ok [0-9]+.*# skip' "$log" || true)
	bad=$(grep -E '^not ok [0-9]+' "$log" | grep -ciEv '# todo' || true)
	# A file that died before its first failing test has failed all the same.
	if ((status && bad == 0)); then bad=1; fi
	if ((good == 0 && bad == 0)); then bad=1; fi
	passed=$((passed + good))
	failed=$((failed + bad))
	if ((bad == 0)); then
		say "TAP: $good tests in $# files"
		return 0
	fi
	say "--- TAP: $bad failed"
	cat "$log"
	for name in "$@"; do
		if grep -qE "^$name\.pl .*(Failed|Wstat)|^Test Summary.*$name" "$log"; then
			say "--- last lines of the log of $name"
			tail -n 60 "$run/tmp_check/log/regress_log_${name##*/}" 2>/dev/null || true
			tail -n 40 "$run/tmp_check/log/${name##*/}"_*.log 2>/dev/null || true
		fi
	done
	say "--- end of TAP"
}

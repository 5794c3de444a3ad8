#!/bin/sh
# Records writes to memory.reclaim on the running kernel, with tracefs and a shell alone, in the
# format that `mmcheck conform` reads. record-a-trace.md says what each column is taken from.

set -eu
export LC_ALL=C

usage() {
    cat <<'END'
usage: record-a-trace.sh --cgroup DIR [OPTION]... AMOUNT... [-- COMMAND [ARGUMENT]...]
       record-a-trace.sh --convert FILE

Writes each AMOUNT (such as 100K, 16M or 1G) to memory.reclaim of the cgroup, and prints what the
kernel did as a recording. COMMAND is run inside the cgroup before each write, to fill it.

  --cgroup DIR          a cgroup of version 2 with the memory controller
  --kernel LABEL        6.1, 6.12, 7.2 or 7.3: the kernel to compare with; by default the running one
  --fs NAME             the file system the cached files are on (default: ext4)
  --usage-offset BYTES  of memory.usage in struct mem_cgroup, where the kernel can't tell by itself
  --raw FILE            also keep the text of tracefs
  --convert FILE        only convert such text ("-": standard input)
END
}

fail() {
    printf 'record-a-trace.sh: %s\n' "$1" >&2
    exit 1
}

# From the text of tracefs to rows. Every event belongs to the task that has a write open; whatever
# other tasks reclaim at the same time is left out.
convert() {
    awk '
        function fail(message) {
            printf "record-a-trace.sh: line %d: %s\n", NR, message > "/dev/stderr"
            failed = 1
            exit 1
        }
        # The value of a field of this event.
        function field(name,    nth, of, words) {
            of = split(rest, words, " ")
            for (nth = 1; nth <= of; nth++)
                if (index(words[nth], name "=") == 1)
                    return substr(words[nth], length(name) + 2)
            fail(event " does not say " name "=")
        }
        function pages(amount,    unit) {
            if (amount !~ /^[0-9]+[KMG]?$/)
                fail("\"" amount "\" is not a number with K, M or G")
            unit = substr(amount, length(amount))
            return int(amount * (unit == "K" ? 1024 : unit == "M" ? 1048576 : unit == "G" ? 1073741824 : 1) / 4096)
        }
        function time() {
            return sprintf("%.0f", (stamp - begun) * 1000000)
        }
        function counters(into) {
            into["current"] = field("current"); into["pgsteal"] = field("pgsteal")
            into["pgscan"] = field("pgscan"); into["file"] = field("file"); into["anon"] = field("anon")
        }
        function header(    run) {
            run = "S3_" field("fs") ".lru" field("lru") ".recorded"
            if (field("nodes") > 1) run = run ".numa" field("nodes")
            if (field("children") > 0) run = run ".child" field("children")
            print "# S3 kernel=" field("kernel") " " run
            print "# REQ,amount,asked_pages | C,t_start_us,t_end_us,asked,reclaimed,memcg_usage_before_pages,reclaim_options,n_shrink_inactive_calls,shrink_scanned,shrink_reclaimed | END,write_ret,errno,current_before,current_after,pgsteal_delta,pgscan_delta,file_before,file_after,anon_before,anon_after"
            named = 1
        }
        function end_of_request(    ok) {
            if (state != "returned") fail("no write to memory.reclaim before this")
            ok = ret >= 0
            print "REQ," amount "," pages(amount)
            printf "%s", passes
            printf "END,%s,%s,%s,%s", ok ? ret : -1, ok ? 0 : -ret, before["current"], after["current"]
            printf ",%.0f,%.0f", after["pgsteal"] - before["pgsteal"], after["pgscan"] - before["pgscan"]
            print "," before["file"] "," after["file"] "," before["anon"] "," after["anon"]
            state = ""
            requests++
        }
        function marker() {
            if (rest ~ /^mmcheck run /) header()
            if (rest ~ /^mmcheck before /) {
                if (!named) fail("the kernel and the run are not named before this")
                if (state != "") fail("the request before this has no end")
                counters(before); state = "ready"
            }
            if (rest ~ /^mmcheck after /) { counters(after); end_of_request() }
        }
        function reclaim_event() {
            if (event == "mmcheck_pass") {
                if (in_pass) fail("a pass begins inside of another")
                in_pass = 1; start = time()
                asked = field("asked"); options = field("options"); used = field("usage")
                visits = scanned = shrunk = 0
            } else if (event == "mm_vmscan_lru_shrink_inactive" && in_pass) {
                visits++; scanned += field("nr_scanned"); shrunk += field("nr_reclaimed")
            } else if (event == "mm_vmscan_memcg_reclaim_end") {
                if (!in_pass) fail("a pass ends that did not begin")
                in_pass = 0
                passes = passes "C," start "," time() "," asked "," field("nr_reclaimed") "," used "," options "," visits "," scanned "," shrunk "\n"
            } else if (event == "mmcheck_reclaim_ret") {
                if (in_pass) fail("the write ends inside of a pass")
                ret = field("ret"); state = "returned"
            }
        }
        /^# entries-in-buffer\/entries-written:/ {
            split($3, entries, "/")
            if (entries[1] != entries[2]) fail("events were lost: " $3 " are left")
        }
        /\[LOST [0-9]+ EVENTS\]/ { fail("events were lost") }
        /^#/ || /^$/ { next }
        {
            # A task may have spaces in its name; what follows it is fixed.
            if (!match($0, /-[0-9]+ +(\([ 0-9-]+\) +)?\[[0-9]+\] +([^ ]+ +)?[0-9]+\.[0-9]+: /))
                fail("this is not an event of tracefs")
            split(substr($0, RSTART + 1, RLENGTH - 1), place, " ")
            pid = place[1]
            stamp = substr($0, RSTART, RLENGTH - 2)
            sub(/^.* /, "", stamp)
            rest = substr($0, RSTART + RLENGTH)
            event = rest
            sub(/:.*/, "", event)
            sub(/^[^:]*: */, "", rest)
            if (event ~ /^tracing_mark_write/) {
                marker()
            } else if (event == "mmcheck_reclaim" && state == "ready") {
                state = "open"; writer = pid; begun = stamp
                amount = field("amount"); gsub(/"/, "", amount)
                passes = ""; in_pass = 0
            } else if (state == "open" && pid == writer) {
                reclaim_event()
            }
        }
        END {
            if (failed) exit 1
            if (state != "") fail("the last request has no end")
            if (!requests) fail("there is no request in this text")
        }
    ' "$1"
}

# The label of the running kernel.
label() {
    case $(uname -r) in
    6.1 | 6.1[.-]*) echo 6.1 ;;
    6.12 | 6.12[.-]*) echo 6.12 ;;
    7.2 | 7.2[.-]*) echo 7.2 ;;
    7.3 | 7.3[.-]*) echo 7.3 ;;
    *) fail "$(uname -r) is none of the kernels that are modelled: say --kernel 6.1, 6.12, 7.2 or 7.3" ;;
    esac
}

# Counters of the cgroup, as a marker has them.
counters() {
    awk -v current="$(cat "$cgroup/memory.current")" '
        { stat[$1] = $2 }
        END {
            printf "current=%s pgsteal=%s pgscan=%s", current, stat["pgsteal"], stat["pgscan"]
            printf " file=%s anon=%s\n", stat["file"], stat["anon"]
        }
    ' "$cgroup/memory.stat"
}

mark() {
    printf 'mmcheck %s\n' "$1" >"$instance/trace_marker"
}

forget_probes() {
    for probe in mmcheck_reclaim mmcheck_reclaim_ret mmcheck_pass; do
        # A write that truncates would remove everyone's probes.
        printf '%s\n' "-:mmcheck/$probe" >>"$tracefs/kprobe_events" 2>/dev/null || :
    done
}

clean_up() {
    printf '0\n' >"$instance/events/enable" 2>/dev/null || :
    rmdir "$instance" 2>/dev/null || :
    forget_probes
    if [ -n "$scratch" ]; then rm -f "$scratch"; fi
}

set_probes() {
    if [ -n "$offset" ]; then
        used="+$offset(\$arg1):u64"
    else
        # Since 6.6 probes know the types of arguments.
        used='memcg->memory.usage.counter:u64'
    fi
    forget_probes
    while read -r probe; do
        printf '%s\n' "$probe" >>"$tracefs/kprobe_events" ||
            fail "the kernel refuses the probe \`$probe\`; $tracefs/error_log says why. Before 6.6, or without BTF, say --usage-offset"
    done <<END
p:mmcheck/mmcheck_reclaim memory_reclaim amount=+0(\$arg2):string
r:mmcheck/mmcheck_reclaim_ret memory_reclaim ret=\$retval:s64
p:mmcheck/mmcheck_pass try_to_free_mem_cgroup_pages asked=\$arg2:u64 options=\$arg4:u32 usage=$used
END
}

enable_events() {
    printf 'mono\n' >"$instance/trace_clock"
    printf '16384\n' >"$instance/buffer_size_kb"
    # The shell itself writes to memory.reclaim; nobody else's reclaim need fill the buffer.
    printf '%s\n' "$$" >"$instance/set_event_pid"
    for event in mmcheck vmscan/mm_vmscan_memcg_reclaim_end vmscan/mm_vmscan_lru_shrink_inactive; do
        printf '1\n' >"$instance/events/$event/enable"
    done
}

request() {
    amount=$1
    shift
    if [ $# -gt 0 ]; then
        # shellcheck disable=SC2016 # the inner shell expands these
        sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$cgroup" "$@" >&2 ||
            fail "the command failed: $*"
    fi
    mark "before $(counters)"
    # That the kernel could not free so much is a result; the probe records it.
    printf '%s' "$amount" 2>/dev/null >"$cgroup/memory.reclaim" || :
    mark "after $(counters)"
}

record() {
    for tracefs in /sys/kernel/tracing /sys/kernel/debug/tracing ''; do
        if [ -w "$tracefs/kprobe_events" ]; then break; fi
    done
    [ -n "$tracefs" ] || fail 'no tracefs with kprobe_events that can be written: mount it, and be root'
    [ "$(getconf PAGESIZE)" = 4096 ] || fail 'pages of this machine are not of 4096 bytes'
    [ -w "$cgroup/memory.reclaim" ] || fail "$cgroup has no memory.reclaim"
    kernel=${kernel:-$(label)}
    lru=$(cat /sys/kernel/mm/lru_gen/enabled 2>/dev/null || echo 0x0000)
    nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
    children=$(find "$cgroup" -mindepth 1 -type d | wc -l)

    instance=$tracefs/instances/mmcheck
    mkdir "$instance" || fail "$instance is there: is another recording going on?"
    trap clean_up EXIT
    trap 'exit 1' HUP INT TERM
    if [ -z "$raw" ]; then
        scratch=$(mktemp)
        raw=$scratch
    fi
    set_probes
    enable_events
    mark "run kernel=$kernel fs=$fs lru=$lru nodes=$((nodes)) children=$((children))"
    for amount in $amounts; do
        request "$amount" "$@"
    done
    printf '0\n' >"$instance/tracing_on"
    cat "$instance/trace" >"$raw"
    convert "$raw"
}

cgroup='' kernel='' fs=ext4 offset='' raw='' amounts='' scratch=''
while [ $# -gt 0 ]; do
    case $1 in
    --help)
        usage
        exit 0
        ;;
    --cgroup | --kernel | --fs | --usage-offset | --raw | --convert)
        [ $# -gt 1 ] || fail "$1 needs a value"
        case $1 in
        --cgroup) cgroup=$2 ;;
        --kernel) kernel=$2 ;;
        --fs) fs=$2 ;;
        --usage-offset) offset=$2 ;;
        --raw) raw=$2 ;;
        --convert)
            convert "$2"
            exit
            ;;
        esac
        shift
        ;;
    --)
        shift
        break
        ;;
    [0-9]*) amounts="$amounts $1" ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
if [ -z "$cgroup" ] || [ -z "$amounts" ]; then
    usage >&2
    exit 2
fi
record "$@"

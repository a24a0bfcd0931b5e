// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// parse reads a command line, and returns the configuration and all flags with their values.
func parse(getenv func(string) string, arguments ...string) (Config, *pflag.FlagSet, error) {
	c, err := NewConfig(getenv)
	if err != nil {
		return c, nil, err
	}
	bound := &c
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	bound.AddFlags(flags)
	err = flags.Parse(arguments)
	return *bound, flags, errors.Join(err, bound.Validate())
}

func noEnv(string) string { return "" }

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func mustParse(t *testing.T, arguments ...string) Config {
	t.Helper()
	c, _, err := parse(noEnv, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// values returns the flags that have a value, by name.
func values(flags *pflag.FlagSet) map[string]string {
	values := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.String() != "" && f.Deprecated == "" {
			values[f.Name] = f.Value.String()
		}
	})
	return values
}

func TestDefaults(t *testing.T) {
	_, flags, err := parse(noEnv)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"metrics-addr": ":8080", "health-probe-addr": ":8000", "rest-config-qps": "-1", "rest-config-burst": "50",
		"own-namespace": "kruise-system", "controller-cache-sync-timeout": "2m0s", "create-own-namespace": "false", "install-crds": "false",
		"imagepulljob-refer-to-source-secrets": "false", "resourcedistribution-sources": "false",
		"uniteddeployment-adaptive-scheduling": "false", "pod-webhook-failure-policy": "Fail", "sidecarset-policy-failure-policy": "Fail",
		"assign-pods-by-scheduler": "true", "assign-bcj-pods-by-scheduler": "true",
		"cloneset-scaling-exclude-preparing-delete": "false", "nodeimage-creation-delay": "30s", "nodeimage-response-timeout": "1m0s",
		"leader-elect": "true", "enable-leader-election": "true", "leader-election-id": "kruise-manager",
		"leader-election-lease-duration": "15s", "leader-election-renew-deadline": "10s", "leader-election-retry-period": "2s",
		"deletion-protection-crds": "[]", "persistentpodstate-crds": "[]", "podunavailablebudget-crds": "[]", "workloadspread-crds": "[]", "webhook-annotations": "[]", "enable-webhooks": "true",
		"eviction-responder-room-timeout": "10m0s", "register-webhooks": "true", "release": "1.4", "serve-v1beta1": "false", "default-ttlseconds-for-always-nodeimage": "300", "webhook-initialize-timeout": "20s", "webhook-port": "9876", "webhook-service": "kruise-webhook-service",
		"webhook-secret": "kruise-webhook-certs", "webhook-cert-dir": "/tmp/kruise-webhook-certs",
	}
	got := values(flags)
	for name := range got {
		if strings.HasSuffix(name, "-workers") {
			delete(got, name) // they stand in MIGRATION.md, which TestFlags of tests/documents holds to the flags
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-2: defaults (-want +got):\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		arguments []string
		env       map[string]string
		changed   map[string]string // beside what the arguments say
	}{
		"PF-2: the arguments of OpenKruise's Deployment": {
			[]string{"--enable-leader-election", "--metrics-addr=127.0.0.1:8080", "--leader-election-namespace=kruise-system", "--feature-gates=CloneSetShortHash=true", "--sync-period=0"}, nil,
			map[string]string{"metrics-addr": "127.0.0.1:8080", "leader-election-namespace": "kruise-system", "feature-gates": "CloneSetShortHash=true"},
		},
		"PF-2: the environment": {nil, map[string]string{
			"POD_NAMESPACE": "ops", "WEBHOOK_PORT": "443", "WEBHOOK_HOST": "h", "SERVICE_NAME": "s", "SECRET_NAME": "c", "WEBHOOK_CERT_DIR": "/d", "WEBHOOK_CERT_WRITER": "fs",
		}, map[string]string{
			"own-namespace": "ops", "webhook-port": "443", "webhook-host": "h", "webhook-service": "s", "webhook-secret": "c", "webhook-cert-dir": "/d", "webhook-cert-writer": "fs",
		}},
		"a flag goes before the environment": {[]string{"--own-namespace=b"}, map[string]string{"POD_NAMESPACE": "a"}, map[string]string{"own-namespace": "b"}},
		"what a kind is told":                {[]string{"--nodeimage-creation-delay=0", "--cloneset-workers=7"}, nil, map[string]string{"nodeimage-creation-delay": "0s", "cloneset-workers": "7"}},
		"PF-2: profiles":                     {[]string{"--enable-pprof"}, nil, map[string]string{"pprof-addr": ":8090"}},
		"PF-2: profiles elsewhere":           {[]string{"--pprof-addr=:1", "--enable-pprof=true"}, nil, map[string]string{"pprof-addr": ":1"}},
		"PF-2: no profiles":                  {[]string{"--pprof-addr=:1", "--enable-pprof=false"}, nil, nil},
	}
	_, defaults, err := parse(noEnv)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, flags, err := parse(env(c.env), c.arguments...)
			if err != nil {
				t.Fatal(err)
			}
			want := values(defaults)
			maps.Copy(want, c.changed)
			if diff := cmp.Diff(want, values(flags)); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
	if _, _, err := parse(env(map[string]string{"WEBHOOK_PORT": "x"})); err == nil || !strings.Contains(err.Error(), "WEBHOOK_PORT=x") {
		t.Errorf("a wrong WEBHOOK_PORT gives %v", err)
	}
}

func TestWrongFlags(t *testing.T) {
	for argument, want := range map[string]string{
		"--clonset-workers=1":                       "clonset-workers",
		"--rest-config-qps=0":                       "--rest-config-qps=0: want requests per second, or -1 for no limit",
		"--namespace=A_B":                           "--namespace=A_B: a lowercase",
		"--own-namespace=":                          "--own-namespace=: a lowercase",
		"--feature-gates=X=true":                    "--feature-gates=X=true: unrecognized feature gate: X",
		"--leader-election-id=":                     "--leader-election-id=",
		"--serve-v1beta1 --register-webhooks=false": "--serve-v1beta1=true: want --enable-webhooks and --register-webhooks beside it",
		"--serve-v1beta1 --enable-webhooks=false":   "--serve-v1beta1=true: want --enable-webhooks and --register-webhooks beside it",
		"--webhook-cert-writer=paper":               `--webhook-cert-writer=paper: want "fs" or "secret"`,
		"--webhook-secret=":                         "--webhook-secret=",
		"--webhook-annotations=cert-manager":        "cert-manager must be formatted as key=value",
		"--webhook-annotations=a/b/c=d":             "--webhook-annotations=a/b/c: ",
		"--feature-gates=EnableExternalCerts=true --webhook-cert-writer=fs":                  "--webhook-cert-writer=fs: the gate EnableExternalCerts has certificates read from the Secret",
		"--feature-gates=EnableExternalCerts=true --webhook-host=10.0.0.1 --webhook-secret=": "--webhook-secret=",
		"--cloneset-workers=many":           "--cloneset-workers",
		"--leader-election-id=A_B":          "--leader-election-id=A_B: a lowercase",
		"--controller-cache-sync-timeout=0": "--controller-cache-sync-timeout=0s: want a time above 0, such as 2m",
		"--nodeimage-creation-delay=1x":     "--nodeimage-creation-delay",
		"--podunavailablebudget-mirror=all": `"all": want "Annotated", "Remove" or none`,
	} {
		if _, _, err := parse(noEnv, strings.Fields(argument)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", argument, err, want)
		}
	}
	_, _, err := parse(noEnv, "--namespace=A_B", "--own-namespace=")
	if err == nil || !strings.Contains(err.Error(), "--namespace") || !strings.Contains(err.Error(), "--own-namespace") {
		t.Errorf("two mistakes are not reported together: %v", err)
	}
}

// Every flag of the manager of OpenKruise 1.4 is accepted; the help shows those that have an effect.
func TestFlagsOfOpenKruise(t *testing.T) {
	unused := strings.Fields(`allow-privileged=true sync-period=10h rate-limiter-base-delay=5ms rate-limiter-max-delay=1000s
		leader-election-resource-lock=configmapsleases expectation-timeout=5m disable-no-deepcopy=false
		rate-limiter-qps=10 rate-limiter-bucket-size=100 protection-log-path=/log ws-enabled-versioned-status=deployment,replicaset`)
	used := strings.Fields(`metrics-addr=:1 health-probe-addr=:1 enable-pprof=true pprof-addr=:1 enable-leader-election=true
		leader-election-namespace=a rest-config-qps=30 rest-config-burst=50 nodeimage-creation-delay=30s feature-gates=AllAlpha=true
		leader-election-lease-duration=15s leader-election-renew-deadline=10s leader-election-retry-period=2s
		leader-election-id=kruise-manager namespace=a cloneset-scaling-exclude-preparing-delete=false cloneset-workers=3
		statefulset-workers=3 advancedcronjob-workers=3 imagepulljob-workers=3 nodeimage-workers=3 resourcedistribution-workers=3 crr-workers=3 daemonset-workers=3 assign-pods-by-scheduler=true broadcastjob-workers=3 assign-bcj-pods-by-scheduler=true
		sidecarset-workers=3 sidecarterminator-workers=3 podunavailablebudget-workers=3 uniteddeployment-workers=3 workloadspread-workers=3 persistentpodstate-workers=3 podprobemarker-workers=3 nodepodprobe-workers=3
		controller-cache-sync-timeout=2m webhook-initialize-timeout=60s default-ttlseconds-for-always-nodeimage=300`)
	for _, flag := range slices.Concat(used, unused, []string{"allow-privileged"}) {
		_, flags, err := parse(noEnv, "--"+flag)
		if err != nil {
			t.Errorf("PF-2: --%s: %v", flag, err)
			continue
		}
		name, _, _ := strings.Cut(flag, "=")
		if shown := strings.Contains(flags.FlagUsages(), "--"+name+" "); shown != slices.Contains(used, flag) && name != "enable-pprof" {
			t.Errorf("--%s is shown: %t", name, shown)
		}
	}
}

// PF-2: what the environment of later releases says is done, or is told to be without effect.
func TestEnvironmentOfLaterReleases(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		name    string
		env     map[string]string
		before  time.Duration
		remarks string
	}{
		{"nothing", nil, 0, ""},
		{"days", map[string]string{"CERTS_RENEW_BEFORE": "90d"}, 90 * day, ""},
		{"months", map[string]string{"CERTS_RENEW_BEFORE": "3m"}, 90 * day, ""},
		{"years", map[string]string{"CERTS_RENEW_BEFORE": "9y"}, 9 * 365 * day, ""},
		{"longer than new ones are good", map[string]string{"CERTS_RENEW_BEFORE": "10y"}, 0, "CERTS_RENEW_BEFORE=10y: want a number with d, m or y, above 0, and 9 years at most; certificates are renewed 180 days before they end"},
		{"more than fits", map[string]string{"CERTS_RENEW_BEFORE": "2147483647y"}, 0, "CERTS_RENEW_BEFORE=2147483647y: "},
		{"nothing ahead", map[string]string{"CERTS_RENEW_BEFORE": "0d"}, 0, "CERTS_RENEW_BEFORE=0d: "},
		{"below nothing", map[string]string{"CERTS_RENEW_BEFORE": "-1y"}, 0, "CERTS_RENEW_BEFORE=-1y: "},
		{"no unit", map[string]string{"CERTS_RENEW_BEFORE": "90"}, 0, "CERTS_RENEW_BEFORE=90: "},
		{"no number", map[string]string{"CERTS_RENEW_BEFORE": "d"}, 0, "CERTS_RENEW_BEFORE=d: "},
		{"the namespace of copies", map[string]string{"KRUISE_DAEMON_CONFIG_NS": "kruise-daemon-config"}, 0, ""},
		{"another namespace", map[string]string{"KRUISE_DAEMON_CONFIG_NS": "registries"}, 0,
			"KRUISE_DAEMON_CONFIG_NS=registries has no effect: pull secrets are copied to the namespace kruise-daemon-config"},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, err := NewConfig(env(test.env))
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(config.remarks, "\n")
			if config.Webhook.RenewBefore != test.before || !strings.HasPrefix(said, test.remarks) || (said == "") != (test.remarks == "") {
				t.Errorf("certificates are renewed %s ahead, and it says %q; want %s, %q", config.Webhook.RenewBefore, said, test.before, test.remarks)
			}
		})
	}
}

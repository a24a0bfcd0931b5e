package app

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func noEnv(string) string { return "" }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func mustParse(t *testing.T, getenv func(string) string, arguments ...string) command {
	t.Helper()
	c, err := parse(arguments, getenv, func(string) {})
	if err != nil {
		t.Fatalf("parse(%q): %v", arguments, err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	want := command{
		LogFormat: "text",
		Config: Config{
			QPS: -1, Burst: 50, OwnNamespace: "kruise-system", CloneSetWorkers: 3, StatefulSetWorkers: 3,
			ImagePullJobWorkers: 3, NodeImageWorkers: 3, NodeImageCreationDelay: 30 * time.Second, NodeImageResponseTimeout: time.Minute, ContainerRecreateRequestWorkers: 3,
			MetricsAddr: ":8080", HealthProbeAddr: ":8000",
			LeaderElection: LeaderElection{
				Enabled: true, ID: "kruise-manager", LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			},
			Webhook: Webhook{
				Enabled: true, Port: 9876, Service: "kruise-webhook-service", Secret: "kruise-webhook-certs",
				CertDir: "/tmp/kruise-webhook-certs", Register: true,
			},
		},
	}
	if diff := cmp.Diff(want, mustParse(t, noEnv)); diff != "" {
		t.Errorf("PF-2: defaults (-want +got):\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		arguments []string
		env       func(string) string
		change    func(*command)
	}{
		"PF-2: the arguments of OpenKruise's Deployment": {
			[]string{"--enable-leader-election", "--metrics-addr=127.0.0.1:8080", "--health-probe-addr=:8000", "--logtostderr=true",
				"--leader-election-namespace=kruise-system", "--v=4", "--feature-gates=CloneSetShortHash=true", "--sync-period=0"},
			noEnv, func(c *command) {
				c.MetricsAddr, c.LeaderElection.Namespace, c.Verbosity = "127.0.0.1:8080", "kruise-system", 4
				c.FeatureGates = "CloneSetShortHash=true"
				c.Ignored = []string{
					"--logtostderr: the log always goes to standard error",
					"--sync-period: caches are not gone through again: a controller asks for its next pass itself",
				}
			},
		},
		"PF-2: workers": {[]string{"--cloneset-workers=4", "--statefulset-workers=5", "--imagepulljob-workers=6", "--nodeimage-workers=7", "--crr-workers=8"}, noEnv, func(c *command) {
			c.CloneSetWorkers, c.StatefulSetWorkers, c.ImagePullJobWorkers, c.NodeImageWorkers = 4, 5, 6, 7
			c.ContainerRecreateRequestWorkers = 8
		}},
		"PF-2: no delay":                        {[]string{"--nodeimage-creation-delay=0s"}, noEnv, func(c *command) { c.NodeImageCreationDelay = 0 }},
		"IMG-2.4: ten minutes without a report": {[]string{"--nodeimage-response-timeout=10m"}, noEnv, func(c *command) { c.NodeImageResponseTimeout = 10 * time.Minute }},
		"PF-2: other workers are accepted": {[]string{"--daemonset-workers", "5"}, noEnv, func(c *command) {
			c.Ignored = []string{"--daemonset-workers: the manager does not run that controller"}
		}},
		"PF-2: a switch takes no next argument": {[]string{"--allow-privileged", "--cloneset-workers", "7"}, noEnv, func(c *command) {
			c.CloneSetWorkers = 7
			c.Ignored = []string{"--allow-privileged: the API server decides which pods are privileged"}
		}},
		"PF-2: environment": {nil, env("POD_NAMESPACE", "ops", "SECRET_NAME", "certs", "SERVICE_NAME", "hooks", "WEBHOOK_PORT", "443",
			"WEBHOOK_CERT_DIR", "/certs", "WEBHOOK_HOST", "10.0.0.1", "WEBHOOK_CERT_WRITER", "secret", "CUSTOM_RESOURCE_ENABLE", "CloneSet"),
			func(c *command) {
				c.OwnNamespace, c.CustomResources = "ops", "CloneSet"
				c.Webhook.Secret, c.Webhook.Service, c.Webhook.Port = "certs", "hooks", 443
				c.Webhook.CertDir, c.Webhook.Host, c.Webhook.CertWriter = "/certs", "10.0.0.1", "secret"
			}},
		"a flag overrides the environment": {[]string{"--own-namespace=mine"}, env("POD_NAMESPACE", "ops"), func(c *command) { c.OwnNamespace = "mine" }},
		"both names of leader election":    {[]string{"--leader-elect=false"}, noEnv, func(c *command) { c.LeaderElection.Enabled = false }},
		"the other name":                   {[]string{"--enable-leader-election=false"}, noEnv, func(c *command) { c.LeaderElection.Enabled = false }},
		"profiles on the address of 1.4":   {[]string{"--enable-pprof"}, noEnv, func(c *command) { c.PprofAddr = ":8090" }},
		"profiles elsewhere":               {[]string{"--pprof-addr=:1"}, noEnv, func(c *command) { c.PprofAddr = ":1" }},
		"profiles off after all":           {[]string{"--pprof-addr=:1", "--enable-pprof=false"}, noEnv, func(*command) {}},
		"servers off":                      {[]string{"--metrics-addr=0", "--health-probe-addr="}, noEnv, func(c *command) { c.MetricsAddr, c.HealthProbeAddr = "0", "" }},
		"no webhooks, no rules for them": {[]string{"--enable-webhooks=false", "--webhook-cert-writer=paper"}, noEnv, func(c *command) {
			c.Webhook.Enabled, c.Webhook.CertWriter = false, "paper"
		}},
		"-v is short": {[]string{"-v", "2", "--log-format=json"}, noEnv, func(c *command) { c.Verbosity, c.LogFormat = 2, "json" }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := mustParse(t, noEnv)
			c.change(&want)
			if diff := cmp.Diff(want, mustParse(t, c.env, c.arguments...)); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongFlags(t *testing.T) {
	cases := map[string]struct {
		argument string
		want     []string
	}{
		"unknown flag":        {"--clonset-workers=1", []string{"clonset-workers"}},
		"argument":            {"run", []string{`"run"`, "want flags only"}},
		"no workers":          {"--cloneset-workers=0", []string{"--cloneset-workers=0", "at least 1"}},
		"no StatefulSets":     {"--statefulset-workers=0", []string{"--statefulset-workers=0", "at least 1"}},
		"no recreate":         {"--crr-workers=0", []string{"--crr-workers=0", "at least 1"}},
		"no time to answer":   {"--nodeimage-response-timeout=-1s", []string{"--nodeimage-response-timeout=-1s", "want more than 0"}},
		"no time to be ready": {"--nodeimage-creation-delay=-1s", []string{"--nodeimage-creation-delay=-1s", "0 or more"}},
		"no requests":         {"--rest-config-qps=0", []string{"--rest-config-qps=0", "-1 for no limit"}},
		"namespace":           {"--namespace=A_B", []string{"--namespace=A_B", "lowercase"}},
		"own namespace":       {"--own-namespace=", []string{"--own-namespace=", "lowercase"}},
		"gate":                {"--feature-gates=X=true", []string{"--feature-gates=X=true", "known are AllAlpha"}},
		"address":             {"--metrics-addr=8080", []string{"--metrics-addr=8080", "host:port"}},
		"port of an address":  {"--health-probe-addr=:http-alt", []string{"--health-probe-addr=:http-alt"}},
		"lease id":            {"--leader-election-id=", []string{"--leader-election-id="}},
		"lease duration":      {"--leader-election-lease-duration=10s", []string{"--leader-election-lease-duration=10s", "--leader-election-renew-deadline (10s)"}},
		"fractional lease":    {"--leader-election-lease-duration=15500ms", []string{"whole seconds"}},
		"renew deadline":      {"--leader-election-renew-deadline=2s", []string{"--leader-election-renew-deadline=2s", "1.2 times"}},
		"retry period":        {"--leader-election-retry-period=0", []string{"--leader-election-retry-period=0s", "more than 0"}},
		"webhook port":        {"--webhook-port=70000", []string{"--webhook-port=70000", "65535"}},
		"webhook address":     {"--webhook-bind-address=localhost", []string{"--webhook-bind-address=localhost", "IP address"}},
		"webhook host":        {"--webhook-host=https://x", []string{"--webhook-host=https://x"}},
		"certificate writer":  {"--webhook-cert-writer=paper", []string{"--webhook-cert-writer=paper", `"fs" or "secret"`}},
		"certificate secret":  {"--webhook-secret=", []string{"--webhook-secret="}},
		"log format":          {"--log-format=xml", []string{"--log-format=xml", `"text" or "json"`}},
		"verbosity":           {"-v=-1", []string{"--v=-1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]string{c.argument}, noEnv, func(string) {})
			if err == nil {
				t.Fatalf("%s is accepted", c.argument)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
		})
	}
	if _, err := parse(nil, env("WEBHOOK_PORT", "x"), func(string) {}); err == nil || !strings.Contains(err.Error(), "WEBHOOK_PORT=x") {
		t.Errorf("a wrong WEBHOOK_PORT gives %v", err)
	}
	_, err := parse([]string{"--cloneset-workers=0", "--webhook-port=-1"}, noEnv, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "cloneset-workers") || !strings.Contains(err.Error(), "webhook-port") {
		t.Errorf("two mistakes are not reported together: %v", err)
	}
}

// Every flag of the manager of OpenKruise 1.4 is accepted.
func TestFlagsOf14(t *testing.T) {
	for _, flag := range []string{
		"metrics-addr=:1", "health-probe-addr=:1", "enable-pprof=true", "pprof-addr=:1", "allow-privileged=true", "enable-leader-election=true",
		"leader-election-namespace=a", "sync-period=10h", "rest-config-qps=30", "rest-config-burst=50", "rate-limiter-base-delay=5ms",
		"rate-limiter-max-delay=1000s", "nodeimage-creation-delay=30s", "assign-bcj-pods-by-scheduler=true", "feature-gates=AllAlpha=true",
		"leader-election-lease-duration=15s", "leader-election-renew-deadline=10s", "leader-election-retry-period=2s",
		"leader-election-resource-lock=configmapsleases", "leader-election-id=kruise-manager", "namespace=a", "expectation-timeout=5m",
		"disable-no-deepcopy=false", "rate-limiter-qps=10", "rate-limiter-bucket-size=100", "cloneset-scaling-exclude-preparing-delete=false",
		"assign-pods-by-scheduler=true", "cloneset-workers=3", "statefulset-workers=3", "daemonset-workers=3", "broadcastjob-workers=3",
		"advancedcronjob-workers=3", "sidecarset-workers=3", "uniteddeployment-workers=3", "workloadspread-workers=3",
		"podunavailablebudget-workers=3", "resourcedistribution-workers=3", "persistentpodstate-workers=3", "imagepulljob-workers=3",
		"nodeimage-workers=3", "crr-workers=3", "podprobemarker-workers=3", "nodepodprobe-workers=3", "sidecarterminator-workers=3",
	} {
		mustParse(t, noEnv, "--"+flag)
	}
}

func TestHelpAndVersion(t *testing.T) {
	var help string
	if _, err := parse([]string{"--help"}, noEnv, func(text string) { help = text }); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("--help gives %v", err)
	}
	if !strings.Contains(help, "--cloneset-workers int") || !strings.Contains(help, "--statefulset-workers int") || strings.Contains(help, "--daemonset-workers") {
		t.Errorf("--help should show the flags that have an effect, and no others:\n%s", help)
	}
	if c := mustParse(t, noEnv, "--version", "--cloneset-workers=0"); !c.Version {
		t.Error("--version is not seen")
	}
}

func TestCertificateHostAndFolder(t *testing.T) {
	cases := map[string]struct {
		arguments []string
		host      string
		folder    bool
	}{
		"PF-5: by service":              {[]string{"--own-namespace=ops"}, "kruise-webhook-service.ops.svc", false},
		"PF-5: by host":                 {[]string{"--webhook-host=hooks.example.com"}, "hooks.example.com", true},
		"PF-5: by host, in the Secret":  {[]string{"--webhook-host=10.0.0.1", "--webhook-cert-writer=secret"}, "10.0.0.1", false},
		"PF-5: by service, in a folder": {[]string{"--webhook-cert-writer=fs"}, "kruise-webhook-service.kruise-system.svc", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := mustParse(t, noEnv, c.arguments...).Config
			if got := config.host(); got != c.host {
				t.Errorf("host %s, want %s", got, c.host)
			}
			if got := config.certificatesInFolder(); got != c.folder {
				t.Errorf("in a folder: %v, want %v", got, c.folder)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("--feature-gates=AllAlpha=true --v=4 --logtostderr")
	f.Add("--metrics-addr 0 --webhook-port=x -v")
	f.Fuzz(func(t *testing.T, line string) {
		arguments := strings.Fields(line)
		c, err := parse(arguments, noEnv, func(string) {})
		if err == nil && !c.Version && !slices.Contains(arguments, "--help") {
			if err := c.Config.Validate(); err != nil {
				t.Errorf("parse(%q) accepts what Validate refuses: %v", arguments, err)
			}
		}
	})
}

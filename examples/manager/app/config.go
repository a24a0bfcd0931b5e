// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/examples/process/features"
)

// program is the name of the program, which begins the user agent of every request.
const program = "podwright-manager"

// Main is the whole command; see process.Program.
func Main(arguments []string) int {
	config, err := NewConfig(os.Getenv)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 1
	}
	return process.Program{
		Name: program, AddFlags: config.AddFlags, RBAC: func() ([]byte, error) { return Manifest(config) },
		Policies: func() ([]byte, error) { return Policies(config) },
		Run: func(ctx context.Context) error {
			if config.RemoveWebhooksOf != "" {
				return removeWebhooks(ctx, config)
			}
			m, err := New(config)
			if err != nil {
				return err
			}
			return m.Run(ctx)
		},
	}.Main(arguments)
}

// Config says what a manager does. NewConfig returns one with the defaults; AddFlags says what the fields mean. An empty
// address, or "0", turns a server off. What a single kind is told stands with the kind.
type Config struct {
	// REST is how the API server is reached. Default nil: by Kubeconfig.
	REST       *rest.Config
	Kubeconfig string
	// QPS limits requests to the API server per second, and Burst how many may come at once.
	QPS   float32
	Burst int

	Namespace, OwnNamespace         string
	CreateOwnNamespace, InstallCRDs bool
	// RemoveWebhooksOf is a Deployment of the own namespace. The manager scales it to 0 and removes its webhooks, instead of
	// all else that it does. Default: none.
	RemoveWebhooksOf string
	// CacheSyncTimeout is how long each controller, and what serves webhooks, waits until its caches are filled.
	CacheSyncTimeout time.Duration
	// LeaderElection says how one of several replicas is chosen to run the controllers.
	LeaderElection struct {
		Enabled                                   bool
		ID, Namespace                             string
		LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	}
	// Webhook says how webhooks are served.
	Webhook webhooks.Options
	// WebhookInitializeTimeout is how long certificates and registration may take at the start.
	WebhookInitializeTimeout time.Duration
	// PodFailurePolicy is what becomes of pods when no webhook answers: Fail or Ignore.
	PodFailurePolicy string
	// DeletionProtectionLabelGroup is the group whose members alone may take a label away that protects from deletion, in the
	// policies that Policies returns. Empty: every user who may change an object.
	DeletionProtectionLabelGroup string
	// Features are the feature gates, and the release whose defaults they have.
	Features features.Flags
	// MetricsAddr serves /metrics, HealthProbeAddr /healthz and /readyz, and PprofAddr /debug/pprof/, over plain HTTP.
	MetricsAddr, HealthProbeAddr, PprofAddr string

	kinds []kind // with the values of their flags
	// remarks are about the environment, for the log.
	remarks []string
}

// environment names the flags that variables of OpenKruise's Deployment stand for.
var environment = map[string]string{
	"POD_NAMESPACE": "own-namespace", "WEBHOOK_PORT": "webhook-port", "WEBHOOK_HOST": "webhook-host", "SERVICE_NAME": "webhook-service",
	"SECRET_NAME": "webhook-secret", "WEBHOOK_CERT_DIR": "webhook-cert-dir", "WEBHOOK_CERT_WRITER": "webhook-cert-writer",
}

// NewConfig returns the defaults. The environment counts as defaults too: getenv is os.Getenv or a stand-in.
func NewConfig(getenv func(string) string) (Config, error) {
	c := Config{Features: features.Flags{Release: podwright.Release14, CustomResources: getenv("CUSTOM_RESOURCE_ENABLE")}}
	c.QPS, c.Burst, c.OwnNamespace, c.MetricsAddr, c.HealthProbeAddr = -1, 50, "kruise-system", ":8080", ":8000"
	c.CacheSyncTimeout = 2 * time.Minute
	l, w := &c.LeaderElection, &c.Webhook
	l.Enabled, l.ID, l.LeaseDuration, l.RenewDeadline, l.RetryPeriod = true, "kruise-manager", 15*time.Second, 10*time.Second, 2*time.Second
	w.Enabled, w.Register, w.Port = true, true, 9876
	c.PodFailurePolicy, c.WebhookInitializeTimeout = string(admissionv1.Fail), 20*time.Second
	w.Service, w.Secret, w.CertDir = "kruise-webhook-service", "kruise-webhook-certs", "/tmp/kruise-webhook-certs"
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	c.AddFlags(flags)
	for _, variable := range slices.Sorted(maps.Keys(environment)) {
		if value := getenv(variable); value != "" {
			if err := flags.Set(environment[variable], value); err != nil {
				return Config{}, fmt.Errorf("environment variable %s=%s: %w", variable, value, err)
			}
		}
	}
	c.ofLaterReleases(getenv)
	return c, nil
}

// ofLaterReleases reads variables that OpenKruise has had since 1.5 and that are no flag. What is wrong is no error, as there. (PF-2)
func (c *Config) ofLaterReleases(getenv func(string) string) {
	if value := getenv("CERTS_RENEW_BEFORE"); value != "" {
		before, err := certificates.ParseRenewBefore(value)
		if err != nil {
			c.remarks = append(c.remarks, fmt.Sprintf("CERTS_RENEW_BEFORE=%s: %v; certificates are renewed 180 days before they end", value, err))
		}
		c.Webhook.RenewBefore = before
	}
	if value := getenv("KRUISE_DAEMON_CONFIG_NS"); value != "" && value != distributionv1alpha1.DaemonConfigNamespace {
		c.remarks = append(c.remarks, fmt.Sprintf("KRUISE_DAEMON_CONFIG_NS=%s has no effect: pull secrets are copied to the namespace %s, in which agents read them",
			value, distributionv1alpha1.DaemonConfigNamespace))
	}
}

// AddFlags defines the flags. The values that the fields have are the defaults.
func (c *Config) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "file that says how to reach the API server; default $KUBECONFIG, or else the pod's service account")
	f.StringVar(&c.Namespace, "namespace", c.Namespace, "namespace to work in; empty for all")
	f.StringVar(&c.OwnNamespace, "own-namespace", c.OwnNamespace, "namespace of the manager's own Lease and Secret ($POD_NAMESPACE)")
	f.BoolVar(&c.CreateOwnNamespace, "create-own-namespace", c.CreateOwnNamespace, "create the own namespace when it is missing")
	f.BoolVar(&c.InstallCRDs, "install-crds", c.InstallCRDs, "apply the CRDs at the start")
	f.DurationVar(&c.CacheSyncTimeout, "controller-cache-sync-timeout", c.CacheSyncTimeout,
		"time that controllers and webhooks wait until their caches are filled; after that the manager ends with an error that names what it could not read")
	c.Features.AddFlags(f)
	c.kinds = kinds(f)
	l, w := &c.LeaderElection, &c.Webhook
	f.BoolVar(&l.Enabled, "leader-elect", l.Enabled, "run the controllers in one replica only, chosen by a Lease")
	f.BoolVar(&l.Enabled, "enable-leader-election", l.Enabled, "the same as --leader-elect")
	f.StringVar(&l.ID, "leader-election-id", l.ID, "name of the Lease")
	f.StringVar(&l.Namespace, "leader-election-namespace", l.Namespace, "namespace of the Lease; default --own-namespace")
	f.DurationVar(&l.LeaseDuration, "leader-election-lease-duration", l.LeaseDuration, "time after which a silent leader is replaced, in whole seconds")
	f.DurationVar(&l.RenewDeadline, "leader-election-renew-deadline", l.RenewDeadline, "time after which a leader that cannot renew ends")
	f.DurationVar(&l.RetryPeriod, "leader-election-retry-period", l.RetryPeriod, "time between two tries to get or renew the Lease")
	f.BoolVar(&w.Enabled, "enable-webhooks", w.Enabled, "serve admission and conversion webhooks")
	f.BoolVar(&w.Register, "register-webhooks", w.Register, "keep the webhook configurations in order, create those that are missing, and name the conversion webhook in CRDs")
	f.BoolVar(&w.ServeV1beta1, "serve-v1beta1", w.ServeV1beta1,
		"add v1beta1 to the CRDs of the kinds that OpenKruise 1.9 has in it, and convert; API servers then prefer it to v1alpha1. CRDs that store v1beta1 keep it in any case")
	f.StringVar(&c.PodFailurePolicy, "pod-webhook-failure-policy", c.PodFailurePolicy,
		"what the API server does with new pods that a webhook would change while none answers: Fail refuses them, Ignore creates them unchanged")
	f.StringVar(&c.DeletionProtectionLabelGroup, "deletion-protection-label-group", c.DeletionProtectionLabelGroup,
		"in what --print-policies prints: group whose members alone may take a label away that protects from deletion; empty for every user who may change an object")
	f.StringVar(&c.RemoveWebhooksOf, "remove-webhooks-of", c.RemoveWebhooksOf,
		"before an uninstall: scale this Deployment of managers in the own namespace to 0, remove the webhooks that they have registered, and end")
	f.StringVar(&w.BindAddress, "webhook-bind-address", w.BindAddress, "IP address that webhooks listen on; empty for all")
	f.IntVar(&w.Port, "webhook-port", w.Port, "port of the webhooks ($WEBHOOK_PORT); 0 for a free one")
	f.StringVar(&w.Host, "webhook-host", w.Host, "DNS name or IP address by which the API server reaches this process without a Service ($WEBHOOK_HOST)")
	f.StringVar(&w.Service, "webhook-service", w.Service, "Service in the own namespace that leads to the manager ($SERVICE_NAME)")
	f.StringVar(&w.Secret, "webhook-secret", w.Secret, "Secret in the own namespace that keeps the certificates ($SECRET_NAME)")
	f.StringVar(&w.CertDir, "webhook-cert-dir", w.CertDir, "folder that keeps the certificates ($WEBHOOK_CERT_DIR)")
	f.DurationVar(&c.WebhookInitializeTimeout, "webhook-initialize-timeout", c.WebhookInitializeTimeout, "how long certificates and registration of the webhooks may take at the start")
	f.StringToStringVar(&w.Annotations, "webhook-annotations", w.Annotations,
		"annotations, NAME=VALUE,…, of what is registered: webhook configurations, and CRDs that a webhook converts; for a program that writes their caBundle")
	f.StringVar(&w.CertWriter, "webhook-cert-writer", w.CertWriter, `what keeps the certificates: "fs", a folder, or "secret" ($WEBHOOK_CERT_WRITER); default "fs" with --webhook-host, else "secret"`)
	f.StringVar(&c.MetricsAddr, "metrics-addr", c.MetricsAddr, `address of /metrics; "0" for none`)
	f.StringVar(&c.HealthProbeAddr, "health-probe-addr", c.HealthProbeAddr, `address of /healthz and /readyz; "0" for none`)
	f.StringVar(&c.PprofAddr, "pprof-addr", c.PprofAddr, "address of /debug/pprof/; empty for none")
	f.BoolFunc("enable-pprof", "serve profiles on --pprof-addr, or on :8090 if that is not set", func(value string) error {
		on, err := strconv.ParseBool(value)
		c.PprofAddr = map[bool]string{true: cmp.Or(c.PprofAddr, ":8090")}[on]
		return err
	})
	f.Float32Var(&c.QPS, "rest-config-qps", c.QPS, "requests to the API server per second; -1 for no limit, because the API server shares itself out fairly")
	f.IntVar(&c.Burst, "rest-config-burst", c.Burst, "requests to the API server at once, while --rest-config-qps sets a limit")
	process.WithoutEffect(f, false, "denials are told by events and metrics", "protection-log-path")
	process.WithoutEffect(f, false, "shares are counted by revision for every kind", "ws-enabled-versioned-status")
	process.WithoutEffect(f, true, "the manager does the same without it", "allow-privileged", "disable-no-deepcopy")
	process.WithoutEffect(f, false, "the lock is a Lease, a failing object's back-off is fixed, and caches are not gone through again",
		"leader-election-resource-lock", "sync-period", "expectation-timeout", "rate-limiter-base-delay", "rate-limiter-max-delay",
		"rate-limiter-qps", "rate-limiter-bucket-size")
}

// Validate returns what is wrong with a configuration and would not be found by the code that uses it; nil if nothing
// is. The error names the flag, its value and the rule.
func (c *Config) Validate() error {
	var errs []error
	check := func(flag, value string, broken []string) {
		if len(broken) > 0 {
			errs = append(errs, fmt.Errorf("--%s=%v: %s", flag, value, strings.Join(broken, "; ")))
		}
	}
	gates, err := c.Features.Parse()
	if err != nil {
		check("feature-gates", c.Features.Gates, []string{err.Error()})
	} else if c.webhook(gates).External && c.Webhook.CertWriter == "fs" {
		check("webhook-cert-writer", "fs", []string{"the gate EnableExternalCerts has certificates read from the Secret: leave the flag out, or turn the gate off"})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Webhook.Annotations)) {
		check("webhook-annotations", name, validation.IsQualifiedName(strings.ToLower(name)))
	}
	if c.Namespace != "" {
		check("namespace", c.Namespace, validation.IsDNS1123Label(c.Namespace))
	}
	check("own-namespace", c.OwnNamespace, validation.IsDNS1123Label(c.OwnNamespace))
	if c.CacheSyncTimeout <= 0 {
		check("controller-cache-sync-timeout", c.CacheSyncTimeout.String(), []string{"want a time above 0, such as 2m"})
	}
	if c.LeaderElection.Enabled {
		check("leader-election-id", c.LeaderElection.ID, validation.IsDNS1123Subdomain(c.LeaderElection.ID))
	}
	if c.WebhookInitializeTimeout <= 0 {
		check("webhook-initialize-timeout", c.WebhookInitializeTimeout.String(), []string{"want a time above 0, such as 20s"})
	}
	if c.QPS == 0 {
		check("rest-config-qps", "0", []string{"want requests per second, or -1 for no limit"})
	}
	if !slices.Contains([]string{"", "fs", "secret"}, c.Webhook.CertWriter) {
		check("webhook-cert-writer", c.Webhook.CertWriter, []string{`want "fs" or "secret"`})
	}
	if c.Webhook.ServeV1beta1 && !(c.Webhook.Enabled && c.Webhook.Register) {
		check("serve-v1beta1", "true", []string{"want --enable-webhooks and --register-webhooks beside it: a version without conversion loses fields"})
	}
	if !slices.Contains([]string{string(admissionv1.Fail), string(admissionv1.Ignore)}, c.PodFailurePolicy) {
		check("pod-webhook-failure-policy", c.PodFailurePolicy, []string{`want "Fail" or "Ignore"`})
	}
	if hooks := c.Webhook; !hooks.InFolder() || gates != nil && gates.Enabled(features.EnableExternalCerts) {
		check("webhook-secret", c.Webhook.Secret, validation.IsDNS1123Subdomain(c.Webhook.Secret))
	}
	return errors.Join(errs...)
}

// webhook returns how webhooks are served, with what gates say of it.
func (c *Config) webhook(gates *features.Gates) webhooks.Options {
	o := c.Webhook
	o.External = gates.Enabled(features.EnableExternalCerts)
	return o
}

// leaseNamespace returns the namespace of the Lease.
func (c *Config) leaseNamespace() string { return cmp.Or(c.LeaderElection.Namespace, c.OwnNamespace) }

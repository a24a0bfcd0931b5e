package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/examples/manager/features"
)

// command is what the command line says.
type command struct {
	Config
	// LogFormat is "text" or "json".
	LogFormat string
	// Verbosity of the log: 0 for what an operator wants to know, 2 for what
	// is done, 4 and more for debugging.
	Verbosity int
	// Version asks for the version only.
	Version bool
	// PrintRBAC asks for the RBAC objects only.
	PrintRBAC bool
	// Ignored are the flags of OpenKruise's manager that were given and that
	// have no effect here, with the reason.
	Ignored []string
}

// parse reads the command line. It returns pflag.ErrHelp after printing the
// flags to where usage goes.
func parse(arguments []string, getenv func(string) string, usage func(string)) (command, error) {
	config, err := NewConfig(getenv)
	if err != nil {
		return command{}, err
	}
	c := command{Config: config}
	flags := pflag.NewFlagSet("podwright-manager", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() { usage("Usage: podwright-manager [flags]\n\n" + flags.FlagUsages()) }
	c.add(flags)
	pprof := flags.Bool("enable-pprof", false, "serve profiles on --pprof-addr, or on :8090 where that is not set")
	addLegacy(flags, &c.Ignored)
	if err := flags.Parse(arguments); err != nil {
		return command{}, err
	}
	if flags.Changed("enable-pprof") {
		switch {
		case !*pprof:
			c.PprofAddr = ""
		case off(c.PprofAddr):
			c.PprofAddr = ":8090"
		}
	}
	slices.Sort(c.Ignored)
	if extra := flags.Args(); len(extra) > 0 {
		return command{}, fmt.Errorf("unexpected arguments %q: want flags only", extra)
	}
	if c.Version {
		return c, nil
	}
	return c, errors.Join(c.validateLogging(), c.Config.Validate())
}

func (c *command) validateLogging() error {
	var v checks
	v.check(slices.Contains([]string{"text", "json"}, c.LogFormat), "log-format", c.LogFormat, `want "text" or "json"`)
	v.check(c.Verbosity >= 0, "v", c.Verbosity, "want 0 or more")
	return errors.Join(v...)
}

// add defines the flags. The values that the fields have are the defaults.
func (c *command) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "file that says how to reach the API server; default $KUBECONFIG, or else the pod's service account")
	flags.StringVar(&c.Namespace, "namespace", c.Namespace, "namespace to work in; empty for all")
	flags.StringVar(&c.OwnNamespace, "own-namespace", c.OwnNamespace, "namespace of the manager's own Lease and Secret ($POD_NAMESPACE)")
	flags.BoolVar(&c.CreateOwnNamespace, "create-own-namespace", c.CreateOwnNamespace, "create the own namespace when it is missing")
	flags.BoolVar(&c.InstallCRDs, "install-crds", c.InstallCRDs, "apply the CRDs at the start")
	flags.StringVar(&c.FeatureGates, "feature-gates", c.FeatureGates, "list of Name=true|false; names are "+strings.Join(features.Names(), ", "))
	flags.IntVar(&c.CloneSetWorkers, "cloneset-workers", c.CloneSetWorkers, "CloneSets reconciled at the same time")
	flags.IntVar(&c.StatefulSetWorkers, "statefulset-workers", c.StatefulSetWorkers, "StatefulSets reconciled at the same time")
	flags.IntVar(&c.ImagePullJobWorkers, "imagepulljob-workers", c.ImagePullJobWorkers, "ImagePullJobs reconciled at the same time")
	flags.IntVar(&c.NodeImageWorkers, "nodeimage-workers", c.NodeImageWorkers, "nodes reconciled with their NodeImages at the same time")
	flags.DurationVar(&c.NodeImageCreationDelay, "nodeimage-creation-delay", c.NodeImageCreationDelay, "time that a node must have been ready before it gets its NodeImage")
	flags.DurationVar(&c.NodeImageResponseTimeout, "nodeimage-response-timeout", c.NodeImageResponseTimeout,
		"time that an agent may be silent about an image to pull before that has failed; agents of OpenKruise 1.4 are silent while they pull")
	flags.IntVar(&c.ContainerRecreateRequestWorkers, "crr-workers", c.ContainerRecreateRequestWorkers, "ContainerRecreateRequests reconciled at the same time")
	flags.BoolVar(&c.CloneSetScalingExcludePreparingDelete, "cloneset-scaling-exclude-preparing-delete", c.CloneSetScalingExcludePreparingDelete,
		"do not count pods that prepare for their deletion as replicas")
	c.LeaderElection.add(flags)
	c.Webhook.add(flags)
	flags.StringVar(&c.MetricsAddr, "metrics-addr", c.MetricsAddr, `address of /metrics; "0" for none`)
	flags.StringVar(&c.HealthProbeAddr, "health-probe-addr", c.HealthProbeAddr, `address of /healthz and /readyz; "0" for none`)
	flags.StringVar(&c.PprofAddr, "pprof-addr", c.PprofAddr, "address of /debug/pprof/; empty for none")
	flags.Float32Var(&c.QPS, "rest-config-qps", c.QPS, "requests per second to the API server; -1 for no limit")
	flags.IntVar(&c.Burst, "rest-config-burst", c.Burst, "requests to the API server at once, with --rest-config-qps")
	flags.StringVar(&c.LogFormat, "log-format", "text", `format of the log: "text" or "json"`)
	flags.IntVarP(&c.Verbosity, "v", "v", 0, "verbosity of the log")
	flags.BoolVar(&c.PrintRBAC, "print-rbac", false, "print a ServiceAccount with the rights that the other flags take, as YAML, and end")
	flags.BoolVar(&c.Version, "version", false, "print the version and end")
}

func (l *LeaderElection) add(flags *pflag.FlagSet) {
	flags.BoolVar(&l.Enabled, "leader-elect", l.Enabled, "run the controllers in one replica only, chosen by a Lease")
	flags.BoolVar(&l.Enabled, "enable-leader-election", l.Enabled, "the same as --leader-elect")
	flags.StringVar(&l.ID, "leader-election-id", l.ID, "name of the Lease")
	flags.StringVar(&l.Namespace, "leader-election-namespace", l.Namespace, "namespace of the Lease; default --own-namespace")
	flags.DurationVar(&l.LeaseDuration, "leader-election-lease-duration", l.LeaseDuration, "time after which a silent leader is replaced")
	flags.DurationVar(&l.RenewDeadline, "leader-election-renew-deadline", l.RenewDeadline, "time after which a leader that cannot renew gives up")
	flags.DurationVar(&l.RetryPeriod, "leader-election-retry-period", l.RetryPeriod, "time between two tries to get or renew the Lease")
}

func (w *Webhook) add(flags *pflag.FlagSet) {
	flags.BoolVar(&w.Enabled, "enable-webhooks", w.Enabled, "serve admission and conversion webhooks")
	flags.BoolVar(&w.Register, "register-webhooks", w.Register, "keep the webhook configurations in order, create those that are missing, and name the conversion webhook in CRDs")
	flags.StringVar(&w.BindAddress, "webhook-bind-address", w.BindAddress, "IP address that webhooks listen on; empty for all")
	flags.IntVar(&w.Port, "webhook-port", w.Port, "port of the webhooks ($WEBHOOK_PORT); 0 for a free one")
	flags.StringVar(&w.Host, "webhook-host", w.Host, "DNS name or IP address by which the API server reaches this process without a Service ($WEBHOOK_HOST)")
	flags.StringVar(&w.Service, "webhook-service", w.Service, "Service in the own namespace that leads to the manager ($SERVICE_NAME)")
	flags.StringVar(&w.Secret, "webhook-secret", w.Secret, "Secret in the own namespace that keeps the certificates ($SECRET_NAME)")
	flags.StringVar(&w.CertDir, "webhook-cert-dir", w.CertDir, "folder that keeps the certificates ($WEBHOOK_CERT_DIR)")
	flags.StringVar(&w.CertWriter, "webhook-cert-writer", w.CertWriter, `where certificates are kept, "fs" or "secret" ($WEBHOOK_CERT_WRITER); default "fs" with --webhook-host, else "secret"`)
}

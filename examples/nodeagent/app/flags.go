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
	// Verbosity of the log.
	Verbosity int
	// Version asks for the version only.
	Version bool
	// PrintRBAC asks for the RBAC objects only.
	PrintRBAC bool
}

// parse reads the command line. It returns pflag.ErrHelp after printing the
// flags to where usage goes.
func parse(arguments []string, getenv func(string) string, usage func(string)) (command, error) {
	c := command{Config: NewConfig(getenv)}
	flags := pflag.NewFlagSet("podwright-nodeagent", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() { usage("Usage: podwright-nodeagent [flags]\n\n" + flags.FlagUsages()) }
	c.add(flags)
	if err := flags.Parse(arguments); err != nil {
		return command{}, err
	}
	if extra := flags.Args(); len(extra) > 0 {
		return command{}, fmt.Errorf("unexpected arguments %q: want flags only", extra)
	}
	if c.Version || c.PrintRBAC {
		return c, nil
	}
	var errs []error
	if !slices.Contains([]string{"text", "json"}, c.LogFormat) {
		errs = append(errs, fmt.Errorf(`--log-format=%s: want "text" or "json"`, c.LogFormat))
	}
	if c.Verbosity < 0 {
		errs = append(errs, fmt.Errorf("--v=%d: want 0 or more", c.Verbosity))
	}
	return c, errors.Join(append(errs, c.Config.Validate())...)
}

// add defines the flags. The values that the fields have are the defaults.
func (c *command) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.NodeName, "node-name", c.NodeName, "name of the node ($NODE_NAME)")
	flags.StringVar(&c.Endpoint, "cri-endpoint", c.Endpoint, "socket of the container runtime, such as unix:///run/containerd/containerd.sock; default: the first that is found")
	flags.StringVar(&c.SocketFile, "socket-file", c.SocketFile, "name of the socket of the container runtime in "+mounted)
	flags.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "file that says how to reach the API server; default $KUBECONFIG, or else the pod's service account")
	flags.StringVar(&c.FeatureGates, "feature-gates", c.FeatureGates, "list of Name=true|false; names are "+strings.Join(features.Names(), ", "))
	flags.IntVar(&c.Concurrency, "concurrency", c.Concurrency, "objects that a feature looks at, and images that are pulled, at the same time")
	flags.IntVar(&c.RestartConcurrency, "restart-concurrency", c.RestartConcurrency, "pods of which containers are being stopped at the same time")
	flags.StringVar(&c.HealthAddr, "health-addr", c.HealthAddr, `address of /healthz, /readyz and /metrics; "0" for none`)
	flags.StringVar(&c.HealthAddr, "addr", c.HealthAddr, "the same as --health-addr")
	flags.StringVar(&c.PprofAddr, "pprof-addr", c.PprofAddr, "address of /debug/pprof/; empty for none")
	flags.StringVar(&c.LogFormat, "log-format", "text", `format of the log: "text" or "json"`)
	flags.IntVarP(&c.Verbosity, "v", "v", 0, "verbosity of the log")
	flags.BoolVar(&c.PrintRBAC, "print-rbac", false, "print a ServiceAccount with the rights that the agents take, as YAML, and end")
	flags.BoolVar(&c.Version, "version", false, "print the version and end")
	for _, name := range []string{"logtostderr", "alsologtostderr"} {
		flags.Bool(name, true, "without effect: the log always goes to standard error")
		flags.Lookup(name).Hidden = true
	}
}

package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/examples/manager/features"
)

// Config says what an agent does. NewConfig returns one with the defaults; the
// comments name the flag of a field where it has another name. An empty address,
// or "0", turns a server off.
type Config struct {
	// REST is how the API server is reached. Default nil: by Kubeconfig.
	REST *rest.Config
	// Kubeconfig is a file. Default: the environment variable KUBECONFIG, or
	// else the service account of the pod.
	Kubeconfig string
	// NodeName is the name of the node. Required.
	NodeName string
	// Endpoint is the socket of the container runtime (--cri-endpoint), a path or
	// unix://path. Default: the first that is found; see SocketFile.
	Endpoint string
	// SocketFile is the name of a socket in /hostvarrun, as OpenKruise's daemon
	// takes it. Default: the usual ones of containerd and CRI-O there and in /run.
	SocketFile string
	// FeatureGates is a list like "DaemonWatchingPod=false"; package features of
	// the manager has the names.
	FeatureGates string
	// Concurrency is the number of objects that a feature looks at, and that of
	// images that are pulled, at the same time.
	Concurrency int
	// RestartConcurrency is the number of pods of which containers are being
	// stopped at the same time.
	RestartConcurrency int
	// HealthAddr serves /healthz, /readyz and /metrics (--health-addr and --addr),
	// PprofAddr /debug/pprof/, over plain HTTP.
	HealthAddr, PprofAddr string

	// Started is told the address that probes are answered on, empty for none,
	// before anything is asked of anybody. Default nil: nobody is told.
	Started func(health string)
}

// NewConfig returns the defaults. The environment variable NODE_NAME counts as
// one: getenv is os.Getenv or a stand-in.
func NewConfig(getenv func(string) string) Config {
	return Config{NodeName: getenv("NODE_NAME"), Concurrency: 5, RestartConcurrency: 10, HealthAddr: ":10221"}
}

// Validate returns all that is wrong with a configuration, naming the flag, its
// value and the rule; nil when nothing is.
func (c *Config) Validate() error {
	var errs []error
	wrong := func(bad bool, flag string, value any, rule string) {
		if bad {
			errs = append(errs, fmt.Errorf("--%s=%v: %s", flag, value, rule))
		}
	}
	wrong(c.NodeName == "", "node-name", c.NodeName, "want the name of the node, here or in the environment variable NODE_NAME")
	if c.NodeName != "" {
		problems := validation.IsDNS1123Subdomain(c.NodeName)
		wrong(len(problems) > 0, "node-name", c.NodeName, strings.Join(problems, "; "))
	}
	if _, err := features.Parse(c.FeatureGates, ""); err != nil {
		errs = append(errs, fmt.Errorf("--feature-gates=%s: %w", c.FeatureGates, err))
	}
	wrong(c.Endpoint != "" && c.SocketFile != "", "socket-file", c.SocketFile, "want either this or --cri-endpoint")
	wrong(c.Endpoint != "" && !strings.HasPrefix(strings.TrimPrefix(c.Endpoint, "unix://"), "/"), "cri-endpoint", c.Endpoint,
		"want the path of a socket, such as unix:///run/containerd/containerd.sock")
	wrong(c.Concurrency < 1, "concurrency", c.Concurrency, "want at least 1")
	wrong(c.RestartConcurrency < 1, "restart-concurrency", c.RestartConcurrency, "want at least 1")
	for flag, address := range map[string]string{"health-addr": c.HealthAddr, "pprof-addr": c.PprofAddr} {
		_, _, err := net.SplitHostPort(cmp.Or(address, ":0"))
		wrong(err != nil && !off(address), flag, address, "want host:port, or 0 for none")
	}
	return errors.Join(errs...)
}

// off tells whether an address asks for no server.
func off(address string) bool { return address == "" || address == "0" }

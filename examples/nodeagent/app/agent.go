// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/nodeagent"
)

// runtimePatience is how long a container runtime may take to answer when the
// agent starts.
const runtimePatience = time.Minute

// lookAgain is the time between two looks for a missing CRD: every node of a
// cluster looks.
const lookAgain = time.Minute

// Agent runs the features on one node. New makes one.
type Agent struct {
	config  Config
	gates   featuregate.FeatureGate
	servers []*process.Server
	health  string // the address that probes are answered on
	// patience is how long the runtime may take to answer, and lookAgain the time
	// between two looks for a missing CRD.
	patience, lookAgain time.Duration
	// ready says what is not in order; it changes while the agent starts.
	ready *readiness
}

// Run runs an agent until the context is done. See Agent.Run.
func Run(ctx context.Context, config Config) error {
	a, err := New(config)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// New checks the configuration and opens the listeners. An Agent that is made
// must be run: that closes them.
func New(config Config) (*Agent, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("wrong configuration:\n%w", err)
	}
	gates, err := features.Parse(config.FeatureGates, "")
	if err != nil {
		return nil, err
	}
	a := &Agent{config: config, gates: gates, patience: runtimePatience, lookAgain: lookAgain, ready: &readiness{}}
	if err := a.listen(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// listen opens all listeners.
func (a *Agent) listen() error {
	probes := http.NewServeMux()
	probes.Handle("/", process.HealthHandler([]process.Check{process.Ping()}, a.ready.checks()))
	probes.Handle("GET /metrics", legacyregistry.Handler())
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	profiles.HandleFunc("/debug/pprof/profile", pprof.Profile)
	profiles.HandleFunc("/debug/pprof/trace", pprof.Trace)
	for _, one := range []struct {
		name, address string
		handler       http.Handler
	}{{"health", a.config.HealthAddr, probes}, {"pprof", a.config.PprofAddr, profiles}} {
		if one.address == "" || one.address == "0" {
			continue
		}
		server, err := process.Listen(one.name, one.address, one.handler)
		if err != nil {
			return err
		}
		a.servers = append(a.servers, server)
		if one.name == "health" {
			a.health = server.Address()
		}
	}
	return nil
}

// close closes the listeners that no server has closed.
func (a *Agent) close() {
	for _, server := range a.servers {
		server.Listener.Close()
	}
}

// Run works until the context is done, and then ends in order: the features
// first, then the servers. It returns an error when the start or a feature fails.
// It can be called once.
func (a *Agent) Run(ctx context.Context) error {
	defer a.close()
	if a.config.Started != nil {
		a.config.Started(a.health)
	}
	servers, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	serving, servers := errgroup.WithContext(servers)
	for _, server := range a.servers {
		serving.Go(func() error { return server.Run(servers, nil) })
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(servers, cancel)() // a server has failed
	err := a.work(working)
	if working.Err() != nil {
		err = nil // told to end
	}
	stop()
	return errors.Join(err, serving.Wait())
}

// work connects to the API server and the runtime, and runs the features.
func (a *Agent) work(ctx context.Context) error {
	config, source, err := process.Connection(a.config.REST, a.config.Kubeconfig)
	if err != nil {
		return err
	}
	logger := klog.FromContext(ctx)
	logger.Info("Connecting to the API server", "host", config.Host, "from", source, "node", a.config.NodeName)
	config = rest.CopyConfig(config)
	config.QPS = -1
	caches, err := newCaches(config, a.config.NodeName)
	if err != nil {
		return err
	}
	runtime, err := a.connectRuntime(ctx)
	if err != nil {
		return err
	}
	defer runtime.Close()
	logger.Info("Connected to the container runtime", "endpoint", runtime.Endpoint, "name", runtime.Name, "version", runtime.Version)
	return a.runFeatures(ctx, config, &shared{&a.config, a.gates, runtime, caches})
}

// connectRuntime waits for the runtime, for a while.
func (a *Agent) connectRuntime(ctx context.Context) (*nodeagent.Runtime, error) {
	endpoint, err := a.config.endpoint(func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	return nodeagent.Dial(ctx, endpoint)
}

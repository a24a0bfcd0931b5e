// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/kit/connect"
	"github.com/podwright/podwright/examples/kit/serve"
	"github.com/podwright/podwright/examples/nodeagent/kubeletpods"
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
	config Config
	gates  *features.Gates
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

// New checks the configuration.
func New(config Config) (*Agent, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("wrong configuration:\n%w", err)
	}
	gates, err := config.Features.Parse()
	if err != nil {
		return nil, err
	}
	return &Agent{config: config, gates: gates, patience: runtimePatience, lookAgain: lookAgain, ready: &readiness{}}, nil
}

// Run works until the context is done, and then ends in order: the features
// first, then the servers. It returns an error when the start or a feature fails.
// It can be called once.
func (a *Agent) Run(ctx context.Context) error {
	servers := serve.Start(ctx)
	health, err := a.serve(servers)
	if err != nil {
		return errors.Join(err, servers.Stop())
	}
	if a.config.Started != nil {
		a.config.Started(health)
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(servers.Context, cancel)() // a server has failed
	if err = a.work(working); working.Err() != nil {
		err = nil // told to end
	}
	return errors.Join(err, servers.Stop())
}

// serve serves probes, metrics and profiles, and returns the address of the former two.
func (a *Agent) serve(servers *serve.Servers) (health string, err error) {
	probes := http.NewServeMux()
	probes.Handle("/", serve.HealthHandler([]serve.Check{serve.Ping()}, a.ready.checks()))
	probes.Handle("GET /metrics", legacyregistry.Handler())
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	profiles.HandleFunc("/debug/pprof/profile", pprof.Profile)
	profiles.HandleFunc("/debug/pprof/trace", pprof.Trace)
	health, err1 := servers.Add("health", a.config.HealthAddr, probes)
	_, err2 := servers.Add("pprof", a.config.PprofAddr, profiles)
	return health, errors.Join(err1, err2)
}

// work connects to the API server and the runtime, and runs the features.
func (a *Agent) work(ctx context.Context) error {
	config, source, err := connect.Config(a.config.REST, a.config.Kubeconfig)
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
	closeKubelet, err := a.connectKubelet(ctx, caches)
	if err != nil {
		return err
	}
	defer closeKubelet()
	credentials, err := a.config.credentials()
	if err != nil {
		return err
	}
	runtime, err := a.connectRuntime(ctx, caches.clients.Kubernetes)
	if err != nil {
		return err
	}
	defer runtime.Close()
	logger.Info("Connected to the container runtime", "endpoint", runtime.Endpoint, "name", runtime.Name, "version", runtime.Version)
	return a.runFeatures(ctx, config, &shared{&a.config, a.gates, runtime, caches, credentials})
}

// connectKubelet has the caches read the pods of the kubelet, if they shall. The connection has to be closed.
func (a *Agent) connectKubelet(ctx context.Context, caches *caches) (closeKubelet func() error, err error) {
	nothing := func() error { return nil }
	if a.config.Pods == PodsOfAPIServer {
		return nothing, nil
	}
	conn, err := kubeletpods.Dial(a.config.KubeletSocket)
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	if a.config.Pods == PodsAuto && !kubeletpods.Serves(asking, conn) {
		return nothing, conn.Close()
	}
	klog.FromContext(ctx).Info("Reading pods from the kubelet", "socket", a.config.KubeletSocket)
	caches.kubelet = conn
	return conn.Close, nil
}

// connectRuntime waits for the runtime, for a while. If no flag names its socket, the one that the kubelet has told of in
// the status of the node is looked for.
func (a *Agent) connectRuntime(ctx context.Context, client kubernetes.Interface) (*nodeagent.Runtime, error) {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	if endpoint := a.config.endpoint(); endpoint != "" {
		return nodeagent.Dial(ctx, endpoint)
	}
	var name, version, address string
	node, err := client.CoreV1().Nodes().Get(ctx, a.config.NodeName, metav1.GetOptions{})
	if err != nil {
		klog.FromContext(ctx).Error(err, "It is not known which container runtime the node has; there must be only one")
	} else {
		name, version = nodeagent.RuntimeOf(node)
		address = nodeagent.NodeAddressOf(node)
	}
	runtime, err := nodeagent.Find(ctx, endpoints(), name, version)
	if err != nil {
		return nil, fmt.Errorf("looked for %s in %s; --cri-endpoint=<socket> names it: %w", strings.Join(sockets, ", "), strings.Join(folders, ", "), err)
	}
	runtime.NodeAddress = address
	return runtime, nil
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/nodeagent/credentialprovider"
	"github.com/podwright/podwright/examples/nodeagent/kubeletpods"
	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/nodeagent/image"
)

// name is the name of the program.
const name = "podwright-nodeagent"

// PodSource is from whom an agent has the pods of its node.
type PodSource string

// The sources of pods. A kubelet serves them since Kubernetes 1.37.
const (
	PodsOfAPIServer PodSource = "apiserver"
	PodsOfKubelet   PodSource = "kubelet"
	// PodsAuto is the kubelet if it serves them when the agent starts, and else the API server.
	PodsAuto PodSource = "auto"
)

// Main is the whole command; see process.Program.
func Main(arguments []string) int {
	config := NewConfig(os.Getenv)
	return config.program().Main(arguments)
}

func (c *Config) program() process.Program {
	return process.Program{
		Name: name, AddFlags: c.AddFlags, RBAC: func() ([]byte, error) { return Manifest(*c) },
		Policies: Policies,
		Run:      func(ctx context.Context) error { return Run(ctx, *c) },
	}
}

// Config says what an agent does. NewConfig returns one with the defaults; AddFlags says what the fields mean. An empty
// address, or "0", turns a server off.
type Config struct {
	// REST is how the API server is reached. Default nil: by Kubeconfig.
	REST       *rest.Config
	Kubeconfig string
	// NodeName is the name of the node. Required.
	NodeName string
	// Endpoint is the socket of the container runtime, a path or unix://path, and SocketFile the name of one in
	// /hostvarrun, as OpenKruise's daemon takes it. Default: of the usual ones there and in /run that of the runtime which the
	// status of the node names.
	Endpoint, SocketFile string
	// Features are the feature gates, and the release whose defaults they have.
	Features features.Flags
	// Pods says from whom the pods of the node come, and KubeletSocket where the kubelet serves them.
	Pods          PodSource
	KubeletSocket string
	// MaxGracePeriod is the longest time that a container is given to stop. Default: that of the library.
	MaxGracePeriod time.Duration
	// Concurrency is the number of objects that a feature reconciles, and that of images that are pulled, at the same
	// time. RestartConcurrency is that of pods of which containers are being stopped.
	Concurrency, RestartConcurrency int
	// MaxPulls is the number of images that are pulled at the same time. Default 0, and less: Concurrency.
	MaxPulls int
	// PullImages says whether the agent pulls images. Default: it does.
	PullImages bool
	// PullNamespaces and PullRegistries are image.Filter. Default: all.
	PullNamespaces, PullRegistries []string
	// ReadSourceSecrets is that of image.Options.
	ReadSourceSecrets bool
	// CredentialProviderConfig and CredentialProviderBinDir are the configuration of the kubelet's credential provider
	// plugins, and where these are. Default: there are none.
	CredentialProviderConfig, CredentialProviderBinDir string
	// HealthAddr serves /healthz, /readyz and /metrics, PprofAddr /debug/pprof/, over plain HTTP.
	HealthAddr, PprofAddr string

	// Started is told the address that probes are answered on, empty for none, before the API server or the runtime is asked.
	// Default nil: there is no call.
	Started func(health string)
}

// NewConfig returns the defaults. The environment variable NODE_NAME counts as one: getenv is os.Getenv or a stand-in.
func NewConfig(getenv func(string) string) Config {
	return Config{NodeName: getenv("NODE_NAME"), Features: features.Flags{Release: podwright.Release14}, Pods: PodsAuto, KubeletSocket: kubeletpods.Socket, Concurrency: 5, RestartConcurrency: 10, PullImages: true, HealthAddr: ":10221"}
}

// AddFlags defines the flags. The values that the fields have are the defaults.
func (c *Config) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&c.NodeName, "node-name", c.NodeName, "name of the node ($NODE_NAME)")
	f.StringVar(&c.Endpoint, "cri-endpoint", c.Endpoint, "socket of the container runtime, such as unix:///run/containerd/containerd.sock; default: the one that the node runs, found in "+mounted+" and in /run")
	f.StringVar(&c.SocketFile, "socket-file", c.SocketFile, "name of the socket of the container runtime in "+mounted)
	f.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "file that says how to reach the API server; default $KUBECONFIG, or else the pod's service account")
	c.Features.AddFlags(f)
	f.StringVar((*string)(&c.Pods), "pods", string(c.Pods), "server to ask for the pods of the node: apiserver, kubelet (since Kubernetes 1.37), or auto for the kubelet if it serves them")
	f.StringVar(&c.KubeletSocket, "kubelet-pods-socket", c.KubeletSocket, "socket on which the kubelet serves pods")
	f.DurationVar(&c.MaxGracePeriod, "max-grace-period", c.MaxGracePeriod, "longest time that a container is given to stop, whatever is asked for; 0 for 24h")
	f.IntVar(&c.Concurrency, "concurrency", c.Concurrency, "objects that a feature reconciles, and images that are pulled, at the same time")
	f.IntVar(&c.RestartConcurrency, "restart-concurrency", c.RestartConcurrency, "pods of which containers are being stopped at the same time")
	f.BoolVar(&c.PullImages, "pull-images", c.PullImages, "pull images; false if the manager has kubelets do it (--nodeimage-pull-pods-image)")
	f.StringSliceVar(&c.PullNamespaces, "pull-namespaces", c.PullNamespaces, "namespaces for whose ImagePullJobs images are pulled, such as team-*; default: all")
	f.StringSliceVar(&c.PullRegistries, "pull-registries", c.PullRegistries, "registries from which images are pulled, such as *.example.com or docker.io/library; default: all")
	f.BoolVar(&c.ReadSourceSecrets, "read-source-secrets", c.ReadSourceSecrets, "read pull secrets in the namespaces of ImagePullJobs, too, as managers of OpenKruise before 1.8 refer to them")
	f.StringVar(&c.CredentialProviderConfig, "image-credential-provider-config", c.CredentialProviderConfig, "configuration of credential provider plugins, as the kubelet takes it")
	f.StringVar(&c.CredentialProviderBinDir, "image-credential-provider-bin-dir", c.CredentialProviderBinDir, "folder of the credential provider plugins")
	f.StringVar(&c.CredentialProviderConfig, "plugin-config-file", c.CredentialProviderConfig, "the same as --image-credential-provider-config")
	f.StringVar(&c.CredentialProviderBinDir, "plugin-bin-dir", c.CredentialProviderBinDir, "the same as --image-credential-provider-bin-dir")
	f.IntVar(&c.MaxPulls, "max-workers-for-pull-image", c.MaxPulls, "images that are pulled at the same time; 0 or less for --concurrency")
	f.StringVar(&c.HealthAddr, "health-addr", c.HealthAddr, `address of /healthz, /readyz and /metrics; "0" for none`)
	f.StringVar(&c.HealthAddr, "addr", c.HealthAddr, "the same as --health-addr")
	f.StringVar(&c.PprofAddr, "pprof-addr", c.PprofAddr, "address of /debug/pprof/; empty for none")
	f.BoolFunc("enable-pprof", "serve profiles on --pprof-addr, or on localhost:10222 if that is not set", func(value string) error {
		on, err := strconv.ParseBool(value)
		c.PprofAddr = map[bool]string{true: cmp.Or(c.PprofAddr, "localhost:10222")}[on]
		return err
	})
	process.WithoutEffect(f, false, "the API server limits its clients by itself", "rest-config-qps", "rest-config-burst")
}

// Validate returns all that is wrong with a configuration, naming the flag, its value and the rule; nil when nothing is.
func (c *Config) Validate() error {
	var errs []error
	wrong := func(bad bool, flag string, value any, rule string) {
		if bad {
			errs = append(errs, fmt.Errorf("--%s=%v: %s", flag, value, rule))
		}
	}
	wrong(c.NodeName == "", "node-name", c.NodeName, "want the name of the node, here or in the environment variable NODE_NAME")
	problems := validation.IsDNS1123Subdomain(c.NodeName)
	wrong(c.NodeName != "" && len(problems) > 0, "node-name", c.NodeName, strings.Join(problems, "; "))
	if _, err := c.Features.Parse(); err != nil {
		wrong(true, "feature-gates", c.Features.Gates, err.Error())
	}
	wrong(c.Endpoint != "" && c.SocketFile != "", "socket-file", c.SocketFile, "want either this or --cri-endpoint")
	wrong(c.Endpoint != "" && !strings.HasPrefix(strings.TrimPrefix(c.Endpoint, "unix://"), "/"), "cri-endpoint", c.Endpoint,
		"want the path of a socket, such as unix:///run/containerd/containerd.sock")
	wrong(!slices.Contains([]PodSource{PodsOfAPIServer, PodsOfKubelet, PodsAuto}, c.Pods), "pods", c.Pods, "want apiserver, kubelet or auto")
	wrong(c.MaxGracePeriod < 0, "max-grace-period", c.MaxGracePeriod, "want 0 or more")
	wrong(c.Concurrency < 1, "concurrency", c.Concurrency, "want at least 1")
	wrong(c.RestartConcurrency < 1, "restart-concurrency", c.RestartConcurrency, "want at least 1")
	if err := c.pullFilter().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--pull-namespaces or --pull-registries: %w", err))
	}
	wrong((c.CredentialProviderConfig == "") != (c.CredentialProviderBinDir == ""), "image-credential-provider-config", c.CredentialProviderConfig,
		"want it together with --image-credential-provider-bin-dir")
	return errors.Join(errs...)
}

// pullFilter says what may be pulled.
func (c *Config) pullFilter() image.Filter {
	return image.Filter{Namespaces: c.PullNamespaces, Registries: c.PullRegistries}
}

// credentials returns the credentials of the node, nil if there are none.
func (c *Config) credentials() (image.Credentials, error) {
	if c.CredentialProviderConfig == "" {
		return nil, nil
	}
	return credentialprovider.Load(c.CredentialProviderConfig, c.CredentialProviderBinDir)
}

// mounted is where the manifests of OpenKruise mount the /var/run of the node.
const mounted = "/hostvarrun"

// folders are where the sockets of container runtimes are looked for, and sockets which.
var (
	folders = []string{mounted, "/run", "/var/run"}
	sockets = []string{"containerd.sock", "containerd/containerd.sock", "crio.sock", "crio/crio.sock", "cri-dockerd.sock", "cri-dockerd/cri-dockerd.sock", "k3s/containerd/containerd.sock"}
)

// endpoint returns the socket of the container runtime that is named; empty if none is.
func (c *Config) endpoint() string {
	if c.Endpoint == "" && c.SocketFile != "" {
		return filepath.Join(mounted, c.SocketFile)
	}
	return c.Endpoint
}

// endpoints returns all sockets that are looked for.
func endpoints() (all []string) {
	for _, folder := range folders {
		for _, socket := range sockets {
			all = append(all, filepath.Join(folder, socket))
		}
	}
	return all
}

package app

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// Config says what a manager does. NewConfig returns one with the defaults; the
// comments name the flag of a field where it has another name. An empty
// address, or "0", turns a server off.
type Config struct {
	// REST is how the API server is reached. Default nil: by Kubeconfig.
	REST *rest.Config
	// Kubeconfig is a file. Default: the environment variable KUBECONFIG, or
	// else the service account of the pod.
	Kubeconfig string
	// QPS limits requests to the API server per second, Burst how many may
	// come at once (--rest-config-qps, --rest-config-burst). Default -1: no
	// limit, because the API server shares itself out fairly.
	QPS   float32
	Burst int

	// Namespace restricts the controllers to one namespace. Default: all.
	Namespace string
	// OwnNamespace holds the manager's Lease and Secret.
	OwnNamespace string
	// CreateOwnNamespace creates it when it is missing: for a manager outside
	// the cluster.
	CreateOwnNamespace bool
	// InstallCRDs applies the CRDs of the library before anything else.
	InstallCRDs bool

	LeaderElection LeaderElection
	Webhook        Webhook

	// FeatureGates is a list like "CloneSetShortHash=true"; package features
	// has the names.
	FeatureGates string
	// CustomResources is the legacy environment variable CUSTOM_RESOURCE_ENABLE.
	CustomResources string
	// CloneSetWorkers is the number of CloneSets reconciled at the same time,
	// StatefulSetWorkers that of StatefulSets, ImagePullJobWorkers that of
	// ImagePullJobs, and NodeImageWorkers that of nodes and their NodeImages.
	CloneSetWorkers, StatefulSetWorkers, ImagePullJobWorkers, NodeImageWorkers int
	// ContainerRecreateRequestWorkers is that of ContainerRecreateRequests
	// (--crr-workers).
	ContainerRecreateRequestWorkers int
	// NodeImageCreationDelay is how long a node must have been ready before it
	// gets its NodeImage.
	NodeImageCreationDelay time.Duration
	// NodeImageResponseTimeout is how long a node's agent may be silent about a
	// task to pull an image; then the task has failed. Agents of OpenKruise 1.4
	// are silent while they pull: where there are some, raise it.
	NodeImageResponseTimeout time.Duration
	// CloneSetScalingExcludePreparingDelete leaves pods that prepare for their
	// deletion out of the replicas.
	CloneSetScalingExcludePreparingDelete bool

	// MetricsAddr serves /metrics, HealthProbeAddr /healthz and /readyz, and
	// PprofAddr /debug/pprof/, over plain HTTP.
	MetricsAddr, HealthProbeAddr, PprofAddr string

	// Started is told the addresses that the servers listen on, before
	// anything is asked of the API server. Default nil: nobody is told.
	Started func(Addresses)
}

// Addresses are what the servers of a manager listen on, host:port; empty where
// there is no server.
type Addresses struct{ Metrics, HealthProbe, Pprof, Webhook string }

// LeaderElection says how one of several replicas is chosen to run the
// controllers. The flags begin with --leader-election-.
type LeaderElection struct {
	// Enabled false runs the controllers at once (--leader-elect=false).
	Enabled bool
	// ID is the name of the Lease.
	ID string
	// Namespace of the Lease. Default: OwnNamespace.
	Namespace string
	// A leader that has not renewed the Lease for LeaseDuration is replaced;
	// it gives up by itself after RenewDeadline, having tried every RetryPeriod.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// Webhook says how webhooks are served. The flags begin with
// --webhook-.
type Webhook struct {
	// Enabled false serves none (--enable-webhooks=false).
	Enabled bool
	// BindAddress is the address to listen on. Default: all.
	BindAddress string
	// Port 0 takes a free one.
	Port int
	// Host is the DNS name or the IP address by which the API server reaches
	// this process without a Service.
	Host string
	// Service leads to the manager, and Secret keeps the certificates; both in
	// OwnNamespace.
	Service, Secret string
	// CertDir is the folder of the certificates where CertWriter is "fs".
	CertDir string
	// CertWriter is "fs" or "secret". Default: "fs" with a Host, else "secret".
	CertWriter string
	// Register keeps the webhook configurations in order, and the conversion
	// webhook of the CRDs (--register-webhooks). Without it somebody else has to.
	Register bool
}

// NewConfig returns the defaults. The environment variables that OpenKruise's
// manager knows count as defaults too: getenv is os.Getenv or a stand-in.
func NewConfig(getenv func(string) string) (Config, error) {
	port := 9876
	if text := getenv("WEBHOOK_PORT"); text != "" {
		var err error
		if port, err = strconv.Atoi(text); err != nil {
			return Config{}, fmt.Errorf("environment variable WEBHOOK_PORT=%s: want a port number", text)
		}
	}
	return Config{
		QPS: -1, Burst: 50,
		OwnNamespace:    cmp.Or(getenv("POD_NAMESPACE"), "kruise-system"),
		CustomResources: getenv("CUSTOM_RESOURCE_ENABLE"),
		CloneSetWorkers: 3, StatefulSetWorkers: 3, ImagePullJobWorkers: 3, NodeImageWorkers: 3,
		ContainerRecreateRequestWorkers: 3,
		NodeImageCreationDelay:          30 * time.Second,
		NodeImageResponseTimeout:        time.Minute,
		MetricsAddr:                     ":8080",
		HealthProbeAddr:                 ":8000",
		LeaderElection: LeaderElection{
			Enabled: true, ID: "kruise-manager",
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		},
		Webhook: Webhook{
			Enabled: true, Port: port, Register: true,
			Host:       getenv("WEBHOOK_HOST"),
			Service:    cmp.Or(getenv("SERVICE_NAME"), "kruise-webhook-service"),
			Secret:     cmp.Or(getenv("SECRET_NAME"), "kruise-webhook-certs"),
			CertDir:    cmp.Or(getenv("WEBHOOK_CERT_DIR"), "/tmp/kruise-webhook-certs"),
			CertWriter: getenv("WEBHOOK_CERT_WRITER"),
		},
	}, nil
}

// leaseNamespace returns the namespace of the Lease.
func (c *Config) leaseNamespace() string {
	return cmp.Or(c.LeaderElection.Namespace, c.OwnNamespace)
}

// host returns the name that the server certificate is for.
func (c *Config) host() string {
	return cmp.Or(c.Webhook.Host, c.Webhook.Service+"."+c.OwnNamespace+".svc")
}

// certificatesInFolder tells where certificates are kept.
func (c *Config) certificatesInFolder() bool {
	return c.Webhook.CertWriter == "fs" || c.Webhook.CertWriter == "" && c.Webhook.Host != ""
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/workloads/client"
)

// userAgent begins the user agent of every request.
const userAgent = "podwright-manager"

// connection returns how to reach the API server.
func (m *Manager) connection(ctx context.Context) (*rest.Config, error) {
	config, source, err := findConnection(m.config)
	if err != nil {
		return nil, err
	}
	klog.FromContext(ctx).Info("Connecting to the API server", "host", config.Host, "from", source)
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent
	config.QPS, config.Burst = m.config.QPS, m.config.Burst
	config.Wrap(m.metrics.Transport)
	return config, nil
}

// findConnection also says where it has the connection from.
func findConnection(c Config) (config *rest.Config, source string, err error) {
	if c.REST != nil {
		return c.REST, "the embedding program", nil
	}
	file, source := c.Kubeconfig, "--kubeconfig="+c.Kubeconfig
	if file == "" {
		file = os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
		source = "environment variable KUBECONFIG=" + file
	}
	if file != "" {
		// The variable may name several files, which are merged.
		rules := &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(file), WarnIfAllMissing: true}
		if c.Kubeconfig != "" {
			rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
		}
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
		if err != nil {
			return nil, "", fmt.Errorf("reading the connection to the API server from %s: %w", source, err)
		}
		return config, source, nil
	}
	config, err = rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, "", errors.New("no connection to an API server: want --kubeconfig=<file>, the environment variable KUBECONFIG, or a pod with a service account")
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the service account of the pod: %w", err)
	}
	return config, "the service account of the pod", nil
}

// kubernetesClient returns a client for the core kinds, which travel as protobuf.
func kubernetesClient(config *rest.Config, agent string) (kubernetes.Interface, error) {
	config = withAgent(config, agent)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfig(config)
}

// workloadsClient returns a client for the workload kinds.
func workloadsClient(config *rest.Config, agent string) (client.Interface, error) {
	return client.NewForConfig(withAgent(config, agent))
}

func withAgent(config *rest.Config, agent string) *rest.Config {
	config = rest.CopyConfig(config)
	if agent != "" {
		config.UserAgent = userAgent + "/" + agent
	}
	return config
}

// createNamespace creates the manager's own namespace if it is missing.
func createNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the manager's own namespace %s: %w", name, err)
	}
	return nil
}

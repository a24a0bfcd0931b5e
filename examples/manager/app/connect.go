package app

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/workloads/client"
)

// userAgent begins the user agent of every request.
const userAgent = "podwright-manager"

// connection returns how to reach the API server.
func (m *Manager) connection(ctx context.Context) (*rest.Config, error) {
	config, source, err := process.Connection(m.config.REST, m.config.Kubeconfig)
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

// kubernetesClient returns a client for the core kinds, which travel as protobuf.
func kubernetesClient(config *rest.Config, agent string) (kubernetes.Interface, error) {
	return process.KubernetesClient(withAgent(config, agent))
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

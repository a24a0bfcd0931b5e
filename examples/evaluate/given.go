package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podwright/podwright/examples/evaluate/display"
)

// Where a manager that runs keeps its Lease, unless it is told otherwise.
const (
	managerNamespace = "kruise-system"
	managerLease     = "kruise-manager"
)

// openCluster asks a cluster that is there already what it has. It changes nothing.
func openCluster(ctx context.Context, kubeconfig string, screen *display.Screen) (_ *place, err error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(kubeconfig), WarnIfAllMissing: true}
	if len(rules.Precedence) == 1 {
		if kubeconfig, err = filepath.Abs(kubeconfig); err != nil {
			return nil, err
		}
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig} // which must exist
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, wrongKubeconfig(kubeconfig, err)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, wrongKubeconfig(kubeconfig, err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	end := screen.Begin("asking the API server " + config.Host)
	manager, err := runningManager(ctx, client)
	if err != nil {
		end("")
		return nil, fmt.Errorf("cluster of context %q at %s: %w", raw.CurrentContext, config.Host, err)
	}
	end(fmt.Sprintf("the cluster is the one of context %q, at %s", raw.CurrentContext, config.Host))

	p := &place{config: config, kubeconfig: kubeconfig, manager: manager}
	if p.dir, err = os.MkdirTemp("", "podwright-demo-"); err != nil {
		return nil, err
	}
	p.close = func() error { return errors.Join(removeNamespace(client, p.namespace), os.RemoveAll(p.dir)) }
	return p, nil
}

func wrongKubeconfig(name string, err error) error {
	return fmt.Errorf("kubeconfig %s: %w; name a file with --kubeconfig, or start a cluster on this machine with --kubeconfig=\"\"", name, err)
}

// makeNamespace creates the namespace to work in, unless there is one.
func (p *place) makeNamespace(ctx context.Context, client kubernetes.Interface, screen *display.Screen) (err error) {
	if p.namespace != "" {
		return nil
	}
	end := screen.Begin("creating a namespace")
	if p.namespace, err = createNamespace(ctx, client); err == nil {
		err = awaitServiceAccount(ctx, client, p.namespace)
	}
	if err != nil {
		end("")
		return err
	}
	end("namespace " + p.namespace + " is created; it is removed in the end")
	return nil
}

// runningManager names the manager that runs in the cluster: it would work on the same workload.
func runningManager(ctx context.Context, client kubernetes.Interface) (string, error) {
	lease, err := client.CoordinationV1().Leases(managerNamespace).Get(ctx, managerLease, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("looking for a manager that runs already: %w", err)
	}
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return "", nil
	}
	if time.Since(spec.RenewTime.Time) > time.Duration(*spec.LeaseDurationSeconds)*time.Second {
		return "", nil
	}
	return *spec.HolderIdentity, nil
}

func createNamespace(ctx context.Context, client kubernetes.Interface) (string, error) {
	namespace, err := client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "podwright-demo-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("creating a namespace for the demo: %w", err)
	}
	return namespace.Name, nil
}

// awaitServiceAccount waits for the account without which no pod can be created.
func awaitServiceAccount(ctx context.Context, client kubernetes.Interface, namespace string) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the service account default of namespace %s: %w; is the controller manager of the cluster running?", namespace, err)
	}
	return nil
}

// removeNamespace removes the namespace with all that is in it, and waits until
// it is gone. No name means that there is none yet.
func removeNamespace(client kubernetes.Interface, name string) error {
	if name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	err := client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	if err == nil {
		err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err), nil
		})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing namespace %s: %w; remove it with: kubectl delete namespace %s", name, err, name)
	}
	return nil
}

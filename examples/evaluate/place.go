// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/cluster/registry"
	"github.com/podwright/podwright/examples/process"
)

// place is where the demo happens: a cluster and a namespace in it.
type place struct {
	config     *rest.Config
	kubeconfig string
	namespace  string
	// own says that the cluster is the demo's own, to do as it likes.
	own bool
	// manager names one that somebody runs there already.
	manager string
	// dir holds log files.
	dir string
	// close leaves nothing behind.
	close func() error
}

// startCluster starts a cluster on this machine. Whatever ends this program ends the cluster.
func startCluster(ctx context.Context, node string, screen *screen) (*place, error) {
	o, parts, what := cluster.Options{Nodes: 3}, "etcd, Kubernetes, KWOK", "3 simulated nodes"
	if node == nodeReal {
		o, parts, what = cluster.Options{RealNodes: 2}, parts+", containerd", "2 nodes that run containers"
		if missing := cluster.RealNodesMissing(); len(missing) > 0 {
			return nil, &cluster.MissingError{Missing: missing}
		}
	}
	err := screen.step("building the cluster: "+parts, "the cluster is built: "+parts, func() (err error) {
		if o.ControlPlane, err = cluster.Build(ctx, os.Stdout); err == nil && o.RealNodes > 0 {
			_, err = cluster.BuildRealNodes(ctx, os.Stdout)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var c *cluster.Cluster
	err = screen.step("starting the control plane and "+what, "the API server and "+what+" are ready", func() (err error) {
		if c, err = cluster.Start(ctx, o); err != nil || c.Images() == nil {
			return err
		}
		for _, name := range []string{oldImage, newImage} { // the bad one does not exist
			if _, failure := c.Images().Add(name, registry.Image{Labels: map[string]string{"name": name}}); failure != nil {
				err = errors.Join(err, failure, c.Stop())
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &place{config: c.Config(), kubeconfig: c.Kubeconfig(), namespace: "default", own: true, dir: c.Dir(), close: c.Stop}, nil
}

// openCluster takes a cluster that is there already, in which a namespace of the demo's own is removed in the end.
func openCluster(ctx context.Context, kubeconfig string, screen *screen) (*place, error) {
	config, _, err := process.Connection(nil, kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%w; name a file with --kubeconfig, or start a cluster on this machine with --kubeconfig=\"\"", err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	p := &place{config: config, kubeconfig: kubeconfig}
	err = screen.step("asking the API server "+config.Host, "the cluster is the one at "+config.Host, func() (err error) {
		p.manager, err = runningManager(ctx, client)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster at %s: %w", config.Host, err)
	}
	if p.dir, err = os.MkdirTemp("", "podwright-demo-"); err != nil {
		return nil, err
	}
	p.close = func() error { return errors.Join(removeNamespace(client, p.namespace), os.RemoveAll(p.dir)) }
	return p, nil
}

// runningManager names the manager that runs in the cluster: it would work on the same workload.
func runningManager(ctx context.Context, client kubernetes.Interface) (string, error) {
	lease, err := client.CoordinationV1().Leases("kruise-system").Get(ctx, "kruise-manager", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("looking for a manager that runs already: %w", err)
	}
	end := ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{}).Add(time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second)
	if time.Now().After(end) {
		return "", nil
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), nil
}

// makeNamespace creates the namespace to work in, unless there is one.
func (p *place) makeNamespace(ctx context.Context, client kubernetes.Interface, screen *screen) error {
	if p.namespace != "" {
		return nil
	}
	return screen.step("creating a namespace", "a namespace is created; it is removed in the end", func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if p.namespace, err = cluster.NewNamespace(ctx, client, "podwright-demo-"); err != nil && p.namespace != "" {
			err = fmt.Errorf("%w; is the controller manager of the cluster running?", err)
		}
		return err
	})
}

// removeNamespace removes the namespace with all that is in it, and waits until
// it is gone. No name means that there is none yet.
func removeNamespace(client kubernetes.Interface, name string) error {
	if name == "" {
		return nil
	}
	err := wait.PollUntilContextTimeout(context.Background(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
		if gone := apierrors.IsNotFound(err); gone || apierrors.IsConflict(err) { // a conflict: it is about to go
			return gone, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("removing namespace %s: %w; remove it with: kubectl delete namespace %s", name, err, name)
	}
	return nil
}

// withLogs keeps the logs of a demo that has failed where they outlive the cluster, and says where.
func (p *place) withLogs(err error) error {
	files, failure := filepath.Glob(filepath.Join(p.dir, "*.log"))
	if failure != nil || len(files) == 0 {
		return err
	}
	dir, failure := os.MkdirTemp("", "podwright-demo-logs-")
	for _, file := range files {
		data, err := os.ReadFile(file)
		failure = errors.Join(failure, err, os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o600))
	}
	if failure != nil {
		return fmt.Errorf("%w\nThe logs could not be kept: %w", err, failure)
	}
	return fmt.Errorf("%w\nThe logs of the controller and of the cluster are kept in %s", err, dir)
}

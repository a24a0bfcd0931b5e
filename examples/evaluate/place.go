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
	config                *rest.Config
	kubeconfig, namespace string
	manager               string       // names one that somebody runs there already
	dir                   string       // holds log files
	close                 func() error // leaves nothing behind, also where opening has failed
}

// startCluster starts a cluster on this machine. Whatever ends this program ends the cluster.
func (p *place) startCluster(ctx context.Context, node string, screen *screen) error {
	o, what := cluster.Options{Nodes: 3}, "etcd, Kubernetes, KWOK and 3 simulated nodes"
	if node == nodeReal {
		o, what = cluster.Options{RealNodes: 2}, "etcd, Kubernetes and 2 nodes that run containers"
		if missing := cluster.RealNodesMissing(); len(missing) > 0 {
			return &cluster.MissingError{Missing: missing}
		}
	}
	return screen.step("building and starting "+what, func() (err error) {
		if o.ControlPlane, err = cluster.Build(ctx, os.Stdout); err == nil && o.RealNodes > 0 {
			_, err = cluster.BuildRealNodes(ctx, os.Stdout)
		}
		if err != nil {
			return err
		}
		c, err := cluster.Start(ctx, o)
		if err != nil {
			return err
		}
		*p = place{config: c.Config(), kubeconfig: c.Kubeconfig(), namespace: "default", dir: c.Dir(), close: c.Stop}
		for _, name := range []string{oldImage, newImage} { // the bad one does not exist
			if c.Images() != nil && err == nil {
				_, err = c.Images().Add(name, registry.Image{Labels: map[string]string{"name": name}})
			}
		}
		return err
	})
}

// openCluster takes a cluster that is there already, and makes a namespace in it that is removed in the end.
func (p *place) openCluster(ctx context.Context, kubeconfig string, screen *screen) error {
	config, _, err := process.Connection(nil, kubeconfig)
	if err != nil {
		return fmt.Errorf("%w; name a file with --kubeconfig, or start a cluster on this machine with --kubeconfig=\"\"", err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	p.config, p.kubeconfig = config, kubeconfig
	p.close = func() error { return errors.Join(p.removeNamespace(client), os.RemoveAll(p.dir)) }
	return screen.step("making a namespace in the cluster at "+config.Host, func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if p.dir, err = os.MkdirTemp("", "podwright-demo-"); err == nil {
			p.manager, err = runningManager(ctx, client)
		}
		if err != nil {
			return fmt.Errorf("cluster at %s: %w", config.Host, err)
		}
		p.namespace, err = cluster.NewNamespace(ctx, client, "podwright-demo-")
		return err
	})
}

// runningManager names the manager that runs in the cluster: it would work on the same workload.
func runningManager(ctx context.Context, client kubernetes.Interface) (string, error) {
	lease, err := client.CoordinationV1().Leases("kruise-system").Get(ctx, "kruise-manager", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("looking for a manager that runs already: %w", err)
	}
	length := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	if lease.Spec.RenewTime == nil || time.Since(lease.Spec.RenewTime.Time) > length {
		return "", nil
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), nil
}

// removeNamespace removes the namespace, where there is one yet, and waits until it is gone with all that is in it.
func (p *place) removeNamespace(client kubernetes.Interface) error {
	err := wait.PollUntilContextTimeout(context.Background(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if p.namespace == "" {
			return true, nil
		}
		err := client.CoreV1().Namespaces().Delete(ctx, p.namespace, metav1.DeleteOptions{})
		if gone := apierrors.IsNotFound(err); gone || apierrors.IsConflict(err) { // a conflict: it is about to go
			return gone, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("%w; remove it with: kubectl delete namespace %s", err, p.namespace)
	}
	return nil
}

// withLogs keeps the logs of a demo that has failed where they outlive the cluster, and says where.
func (p *place) withLogs(err error) error {
	files, _ := filepath.Glob(filepath.Join(p.dir, "*.log"))
	if p.dir == "" || len(files) == 0 {
		return err
	}
	dir, failure := os.MkdirTemp("", "podwright-demo-logs-")
	for _, file := range files {
		failure = errors.Join(failure, os.Rename(file, filepath.Join(dir, filepath.Base(file))))
	}
	return errors.Join(fmt.Errorf("%w\nThe logs of the controller and of the cluster are kept in %s", err, dir), failure)
}

// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	nodeAnnotation      = "kwok.x-k8s.io/node"
	nodeAnnotationValue = "fake"

	// hostPathVolumes is the folder in which the controller manager makes one for every volume that it provisions. No flag changes it.
	hostPathVolumes = "/tmp/hostpath_pv"
)

// NewNode returns a node that, once created in the cluster, is simulated: its pods run. number gives it an address of its own;
// the nodes that Start makes have the numbers from 0 up. An empty zone means no zone label.
func NewNode(name, zone string, number int) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname:   name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: runtime.GOARCH,
	}
	if zone != "" {
		labels[corev1.LabelTopologyZone] = zone
		labels[corev1.LabelTopologyRegion] = "region-1"
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1000"),
		corev1.ResourceMemory:           resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("10000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      labels,
			Annotations: map[string]string{nodeAnnotation: nodeAnnotationValue},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", 1+number>>16&63, number>>8&255, number&255)},
				{Type: corev1.NodeHostName, Address: name},
			},
		},
	}
}

// createNodes creates the cluster's own nodes; those of an earlier run in the same directory stay as they are.
func createNodes(ctx context.Context, client kubernetes.Interface, count int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range max(count, 0) {
		group.Go(func() error {
			node := NewNode(fmt.Sprintf("node-%d", i), "zone-"+string(rune('a'+i%3)), i)
			_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// createStorageClass makes claims without a class bind.
func createStorageClass(ctx context.Context, client kubernetes.Interface) error {
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "standard",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kubernetes.io/host-path",
	}
	_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// NewNamespace creates a namespace whose name begins with a prefix, and returns the name when pods can be created in it. There
// is a namespace, also in case of an error, unless the name is empty.
func NewNamespace(ctx context.Context, client kubernetes.Interface, prefix string) (string, error) {
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("creating a namespace: %w", err)
	}
	return namespace.Name, awaitServiceAccount(ctx, client, namespace.Name)
}

// RemoveNamespace removes a namespace, and returns when it is gone with all that is in it. It need not be there; the empty name is
// that of none.
func RemoveNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	if name == "" {
		return nil
	}
	return poll(ctx, "the end of namespace "+name, func() (bool, error) {
		err := client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
		return apierrors.IsNotFound(err), err
	})
}

// awaitServiceAccount waits for the account without which no pod of a namespace can be created.
func awaitServiceAccount(ctx context.Context, client kubernetes.Interface, namespace string) error {
	return poll(ctx, "the service account default of namespace "+namespace, func() (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	})
}

// awaitNodes waits until count nodes take pods: ready, and without the taints that new nodes carry.
func awaitNodes(ctx context.Context, client kubernetes.Interface, count int) error {
	return poll(ctx, fmt.Sprintf("%d ready nodes", count), func() (bool, error) {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		ready := 0
		for i := range nodes.Items {
			if takesPods(&nodes.Items[i]) {
				ready++
			}
		}
		return ready >= count, fmt.Errorf("%d are ready", ready)
	})
}

func takesPods(node *corev1.Node) bool {
	return len(node.Spec.Taints) == 0 && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// removeVolumes removes the directories that the controller manager made for volumes which still stand. They are outside of
// the cluster's directory, and only the API server knows which are ours.
func (c *Cluster) removeVolumes() {
	p, err := c.running(APIServer)
	if err != nil || !p.alive() || c.options.Dir != "" {
		return
	}
	config := c.Config()
	config.Timeout = 30 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return
	}
	volumes, err := client.CoreV1().PersistentVolumes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, volume := range volumes.Items {
		source := volume.Spec.HostPath
		if source != nil && strings.HasPrefix(filepath.Clean(source.Path), hostPathVolumes+"/") {
			_ = os.RemoveAll(source.Path)
		}
	}
	_ = os.Remove(hostPathVolumes) // fails while another cluster has volumes
}

// poll calls done until it says so or the context ends; then it returns what was waited for and the last error.
func poll(ctx context.Context, what string, done func() (bool, error)) error {
	for {
		ok, err := done()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (last: %w)", what, ctx.Err(), err)
		case <-time.After(pollInterval):
		}
	}
}

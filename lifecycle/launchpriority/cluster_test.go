// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"maps"
	"slices"
	"strings"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler,
	Acts: func(p *Plan) bool { return p.Create != nil || len(p.Add) > 0 }}

// cluster is a fake cluster with pods with barriers. Containers whose image is bad start,
// and do not become ready.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
}

var configMaps = fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }}

func newCluster(f *fixture.Cluster) *cluster {
	o := Options{Kubernetes: f.Client(fixture.ControllerUser), Pods: f.PodInformer(), ControllerOptions: podwright.ControllerOptions{
		Recorders: f.Events.Of, Reader: caches.Reader{caches.Pods: f.PodInformer().GetIndexer()}}}
	c := &cluster{fixture.NewKind(f, tested, o)}
	o.Kubernetes = c.Kube // so that what it costs is not counted
	user, err := NewReconciler(o)
	c.Must(err)
	c.Unfinished = func() string {
		left, err := tested.Unfinished(user, fixture.Web)
		c.Must(err)
		return left
	}
	return c
}

// create creates the pod web, and returns it.
func (c *cluster) create(containers []string) *corev1.Pod {
	c.T.Helper()
	createPod(c.Cluster, fixture.Web.Name, containers...)
	return c.pod()
}

// createPod creates a pod as the webhook makes it, of containers with
// priorities: main=0, log=5. Their images are bad.
func createPod(c *fixture.Cluster, name string, containers ...string) {
	c.T.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name}}
	for _, container := range containers {
		name, priority, _ := strings.Cut(container, "=")
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: name, Image: name + ":bad", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: priority}},
		})
	}
	c.Must(barrier.Mutate(pod, ""))
	c.CreatePod(pod)
}

// pod is the pod web.
func (c *cluster) pod() *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), fixture.Web.Name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// image changes the images of containers, which makes them become ready, or not.
func (c *cluster) image(containers []string, tag string) {
	c.T.Helper()
	for _, container := range containers {
		c.PatchPod(fixture.Web.Name, `{"spec":{"containers":[{"name":"`+container+`","image":"`+container+`:`+tag+`"}]}}`)
	}
}

// begin has the kubelet report that it has begun, and start no container.
func (c *cluster) begin() {
	c.T.Helper()
	c.PatchPod(fixture.Web.Name, `{"status":{"conditions":[{"type":"ContainersReady","status":"False"}],
		"containerStatuses":[{"name":"main","state":{"waiting":{"reason":"ContainerCreating"}}},{"name":"proxy","state":{"waiting":{"reason":"ContainerCreating"}}}]}}`, "status")
}

func (c *cluster) configMap() *corev1.ConfigMap {
	c.T.Helper()
	configMap, err := c.Kube.CoreV1().ConfigMaps(fixture.Web.Namespace).Get(c.T.Context(), "web-barrier", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.Must(err)
	return configMap
}

// keys returns the keys in the ConfigMap, sorted; "-" if there is none.
func (c *cluster) keys() string {
	c.T.Helper()
	configMap := c.configMap()
	if configMap == nil {
		return "-"
	}
	return strings.Join(slices.Sorted(maps.Keys(configMap.Data)), " ")
}

// createConfigMap creates a ConfigMap of the user's.
func (c *cluster) createConfigMap(owner types.UID, keys ...string) {
	c.T.Helper()
	configMap := configMapOf(owner, keys...)
	configMap.UID = ""
	if owner == "none" {
		configMap.OwnerReferences = nil
	}
	_, err := c.Kube.CoreV1().ConfigMaps(fixture.Web.Namespace).Create(c.T.Context(), configMap, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}

func (c *cluster) deleteConfigMap() {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().ConfigMaps(fixture.Web.Namespace).Delete(c.T.Context(), "web-barrier", metav1.DeleteOptions{}))
	synctest.Wait()
}

// states shows the containers as the kubelet does: created or ready, in order.
func (c *cluster) states() string {
	c.T.Helper()
	var all []string
	for _, s := range c.pod().Status.ContainerStatuses {
		switch {
		case s.Ready:
			all = append(all, s.Name+":ready")
		case s.ContainerID != "":
			all = append(all, s.Name+":created")
		}
	}
	return strings.Join(all, " ")
}

func (c *cluster) marked() bool {
	c.T.Helper()
	return c.pod().Annotations[v1alpha1.LaunchPriorityCompletedAnnotation] == "true"
}

// settle lets kubelet and controller work until they have settled.
func (c *cluster) settle() {
	c.T.Helper()
	for range 5 {
		c.KubeletStep()
		c.Sleep("2s")
	}
	if left := c.Unfinished(); left != "" {
		c.T.Errorf("the controller has settled, and should not have: %s", left)
	}
}

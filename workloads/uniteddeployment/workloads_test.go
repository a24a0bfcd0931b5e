// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var (
	apps        = appsv1.SchemeGroupVersion.WithKind
	setResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), string(resourceUnitedDeployments))
	resources   = map[TemplateKind]fakecluster.Resource{
		StatefulSet:         fakecluster.BuiltIn(apps("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }),
		AdvancedStatefulSet: fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
		CloneSet:            fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		Deployment:          fakecluster.BuiltIn(apps("Deployment"), "deployments", func() any { return &appsv1.Deployment{} }),
	}
)

func newClient(t testing.TB, server *fakecluster.Server, user string) client.Interface {
	return fixture.Connect(t, server, user, client.NewForConfig)
}

// setOf reads a UnitedDeployment.
func setOf(c *fixture.Cluster, name string) *v1alpha1.UnitedDeployment {
	c.T.Helper()
	sets := newClient(c.T, c.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace)
	set, err := sets.Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return set
}

// common is what all kinds of workloads have.
type common struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas       int32                  `json:"replicas"`
		Template       corev1.PodTemplateSpec `json:"template"`
		UpdateStrategy struct {
			Partition     json.RawMessage `json:"partition"`
			RollingUpdate struct {
				Partition json.RawMessage `json:"partition"`
			} `json:"rollingUpdate"`
		} `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		Replicas, ReadyReplicas int32
		ObservedGeneration      int64
	} `json:"status"`
}

// subset is the name of its subset.
func (w *common) subset() string { return w.Labels[v1alpha1.SubsetNameLabel] }

// image is that of its pods.
func (w *common) image() string { return w.Spec.Template.Spec.Containers[0].Image }

// pathOf is the path of workloads of a kind, or of one of them, for Cluster.Object.
func pathOf(kind TemplateKind, more ...string) string {
	return path.Join(append([]string{resources[kind].GroupVersion().String(), resources[kind].Name}, more...)...)
}

// workloadsOf lists the workloads of a kind, by subset and name.
func workloadsOf(c *fixture.Cluster, kind TemplateKind) []common {
	c.T.Helper()
	r := resources[kind]
	request := c.Kube.CoreV1().RESTClient().Get().AbsPath("/apis", r.GroupVersion().String(), "namespaces", fixture.Web.Namespace, r.Name)
	raw, err := request.SetHeader("Accept", "application/json").DoRaw(c.T.Context())
	c.Must(err)
	var list struct{ Items []common }
	c.Must(json.Unmarshal(raw, &list))
	slices.SortFunc(list.Items, func(a, b common) int {
		return strings.Compare(a.subset()+"/"+a.Name, b.subset()+"/"+b.Name)
	})
	return list.Items
}

// work plays the controllers of workloads, in one step each: pods are made of the present template. StatefulSets delete the pods with the highest
// ordinals, and others those that serve least.
func work(c *fixture.Cluster, kind TemplateKind) {
	c.T.Helper()
	c.CollectGarbage()
	for _, w := range workloadsOf(c, kind) {
		var ready int32
		have := map[string]corev1.Pod{}
		pods := c.Pods()
		if !ordered(kind) {
			slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(worth(&b), worth(&a)) }) // the first ones stay
		}
		for _, pod := range pods {
			if by := metav1.GetControllerOf(&pod); by == nil || by.UID != w.UID {
				continue
			}
			surplus := len(have) >= int(w.Spec.Replicas) || ordered(kind) && simulation.Ordinal(&pod) >= int(w.Spec.Replicas)
			if surplus || !labels.SelectorFromSet(w.Spec.Template.Labels).Matches(labels.Set(pod.Labels)) {
				c.RemovePod(pod.Name)
				continue
			}
			have[pod.Name] = pod
			if readiness.Ready(&pod) {
				ready++
			}
		}
		for i := 0; len(have) < int(w.Spec.Replicas); i++ {
			name := fmt.Sprint(w.Name, "-", i)
			if _, found := have[name]; !found {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name, Labels: w.Spec.Template.Labels,
					OwnerReferences: []metav1.OwnerReference{{APIVersion: w.APIVersion, Kind: ownerKind(kind), Name: w.Name, UID: w.UID, Controller: new(true)}}}, Spec: w.Spec.Template.Spec}
				c.CreatePod(pod)
				have[name] = *pod
			}
		}
		if s := &w.Status; s.Replicas != int32(len(have)) || s.ReadyReplicas != ready || s.ObservedGeneration != w.Generation {
			status := fmt.Sprintf(`{"status":{"replicas":%d,"readyReplicas":%d,"observedGeneration":%d}}`, len(have), ready, w.Generation)
			c.Object("patch", pathOf(kind, w.Name, "status"), status)
		}
	}
}

// worth says which pods are deleted last: those that are ready, then those that have nodes.
func worth(pod *corev1.Pod) (n int) {
	if readiness.Ready(pod) {
		n = 2
	}
	return n + min(len(pod.Spec.NodeName), 1)
}

func ordered(kind TemplateKind) bool {
	return strings.HasSuffix(string(kind), "StatefulSet")
}

// ownerKind is what pods are owned by: those of Deployments by ReplicaSets.
func ownerKind(kind TemplateKind) string {
	if kind == Deployment {
		return "ReplicaSet"
	}
	return string(kind)
}

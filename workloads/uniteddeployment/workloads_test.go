// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var (
	setResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("UnitedDeployment"), "uniteddeployments")
	resources   = map[uniteddeployment.TemplateKind]fakecluster.Resource{
		uniteddeployment.StatefulSet:         {GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Name: "statefulsets", Status: true, Generation: true, Type: func() any { return &appsv1.StatefulSet{} }},
		uniteddeployment.AdvancedStatefulSet: fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
		uniteddeployment.CloneSet:            fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		uniteddeployment.Deployment:          {GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Name: "deployments", Status: true, Generation: true, Type: func() any { return &appsv1.Deployment{} }},
	}
	fields = map[uniteddeployment.TemplateKind]string{uniteddeployment.StatefulSet: "statefulSetTemplate", uniteddeployment.AdvancedStatefulSet: "advancedStatefulSetTemplate",
		uniteddeployment.CloneSet: "cloneSetTemplate", uniteddeployment.Deployment: "deploymentTemplate"}
)

// newSet is a UnitedDeployment with the lines in its spec. It has workloads of a kind in the subsets a and b, unless
// the lines say otherwise.
func newSet(t testing.TB, kind uniteddeployment.TemplateKind, name, lines string) *v1alpha1.UnitedDeployment {
	t.Helper()
	for _, line := range []string{
		"selector: {matchLabels: {app: demo}}", "topology: {subsets: [{name: a}, {name: b}]}",
		"template: {" + fields[kind] + ": {metadata: {labels: {app: demo}}, spec: {template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: main, image: 'nginx:1'}]}}}}}",
	} {
		if field, _, _ := strings.Cut(line, ":"); !strings.Contains("\n"+lines, "\n"+field+":") {
			lines += "\n" + line
		}
	}
	set := &v1alpha1.UnitedDeployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "UnitedDeployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name}}
	if err := yaml.UnmarshalStrict([]byte(lines), &set.Spec); err != nil {
		t.Fatal(err)
	}
	return set
}

func newClient(t testing.TB, server *fakecluster.Server, user string) client.Interface {
	return fixture.Connect(t, server, user, client.NewForConfig)
}

// workload is what all kinds of workloads have.
type workload struct {
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
func (w *workload) subset() string { return w.Labels[v1alpha1.SubsetNameLabel] }

// image is that of its pods.
func (w *workload) image() string { return w.Spec.Template.Spec.Containers[0].Image }

func path(kind uniteddeployment.TemplateKind, more ...string) []string {
	r := resources[kind]
	return append([]string{"/apis", r.GroupVersion().String(), "namespaces", fixture.Web.Namespace, r.Name}, more...)
}

// workloadsOf lists the workloads of a kind, by subset and name.
func workloadsOf(c *fixture.Cluster, kind uniteddeployment.TemplateKind) []workload {
	c.T.Helper()
	raw, err := c.Kube.CoreV1().RESTClient().Get().AbsPath(path(kind)...).SetHeader("Accept", "application/json").Do(c.T.Context()).Raw()
	c.Must(err)
	var list struct{ Items []workload }
	c.Must(json.Unmarshal(raw, &list))
	slices.SortFunc(list.Items, func(a, b workload) int {
		return strings.Compare(a.subset()+"/"+a.Name, b.subset()+"/"+b.Name)
	})
	return list.Items
}

func patch(c *fixture.Cluster, kind uniteddeployment.TemplateKind, name, data string, subresource ...string) {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(path(kind, append([]string{name}, subresource...)...)...).Body([]byte(data)).Do(c.T.Context()).Error())
}

// work plays the controllers of workloads, in one step each: pods are made of the present template. StatefulSets delete the pods with the highest
// ordinals, and others those that serve least.
func work(c *fixture.Cluster, kind uniteddeployment.TemplateKind) {
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
			surplus := len(have) >= int(w.Spec.Replicas) || ordered(kind) && ordinal(pod.Name) >= int(w.Spec.Replicas)
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
			patch(c, kind, w.Name, fmt.Sprintf(`{"status":{"replicas":%d,"readyReplicas":%d,"observedGeneration":%d}}`, len(have), ready, w.Generation), "status")
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

func ordered(kind uniteddeployment.TemplateKind) bool {
	return strings.HasSuffix(string(kind), "StatefulSet")
}

func ordinal(name string) int { return number(name[strings.LastIndex(name, "-")+1:]) }

// ownerKind is what pods are owned by: those of Deployments by ReplicaSets.
func ownerKind(kind uniteddeployment.TemplateKind) string {
	if kind == uniteddeployment.Deployment {
		return "ReplicaSet"
	}
	return string(kind)
}

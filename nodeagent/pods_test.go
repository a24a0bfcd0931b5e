// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/nodeagent"
)

// query is what the API server is asked for.
type query struct{ Watch, InitialEvents, Pods, Version string }

type queries struct {
	http.RoundTripper
	asked []query
}

// RoundTrip notes a request.
func (q *queries) RoundTrip(request *http.Request) (*http.Response, error) {
	of := request.URL.Query()
	q.asked = append(q.asked, query{of.Get("watch"), of.Get("sendInitialEvents"), of.Get("fieldSelector"), of.Get("resourceVersion")})
	return q.RoundTripper.RoundTrip(request)
}

// The informer asks for the pods of its node alone, and keeps them small. They are listed by the API server's index, from its cache, before
// they are watched.
func TestPodInformer(t *testing.T) {
	agents.Play(t, func(t *testing.T) *agents.Node { return agents.NewNode(t, "node-1", fakecluster.New(nil), nil) }, func(n *agents.Node) {
		for name, node := range map[string]string{"a": "node-1", "b": "node-2", "c": ""} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
				NodeName: node, NodeSelector: map[string]string{"k": "v"}, Containers: []corev1.Container{{Name: "main"}},
			}}
			_, err := n.Kube.CoreV1().Pods("default").Create(n.Context(), pod, metav1.CreateOptions{})
			n.Must(err)
		}
		config := n.Server.Config("agent")
		asked := &queries{RoundTripper: config.Transport}
		config.Transport = asked
		kube, err := kubernetes.NewForConfig(config)
		n.Must(err)
		informer := nodeagent.NewPodInformer(kube, "node-1")
		n.Go(fixture.Informing(informer))
		n.Want("pods", []string{"default/a"}, informer.GetStore().ListKeys())
		for _, object := range informer.GetStore().List() {
			if pod := object.(*corev1.Pod); len(pod.Spec.NodeSelector) != 0 || len(pod.Spec.Containers) != 1 {
				t.Errorf("spec %+v", pod.Spec)
			}
		}
		for i := range asked.asked[1:] {
			asked.asked[i+1].Version = "" // of what was listed
		}
		if diff := cmp.Diff([]query{{Pods: "spec.nodeName=node-1", Version: "0"}, {Watch: "true", Pods: "spec.nodeName=node-1"}}, asked.asked); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// Of a pod what the features read stays, and nothing else: above all no variables
// that are written out.
func TestTrim(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "CloneSet"}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", Volumes: []corev1.Volume{{Name: "v"}}, InitContainers: []corev1.Container{{Name: "i"}}, Containers: []corev1.Container{{
			Name: "main", Image: "web:1", Command: []string{"serve"}, LivenessProbe: &corev1.Probe{},
			Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "secret"}, {Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['a']"}}}},
		}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.7", HostIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: "InPlaceUpdateReady", Status: "False"}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://m", RestartCount: 2, Ready: true, ImageID: "sha256:1"}},
		},
	}
	want := pod.DeepCopy()
	want.ManagedFields, want.Spec.Volumes, want.Spec.InitContainers, want.Status.HostIP, want.Status.ContainerStatuses[0].ImageID = nil, nil, nil, "", ""
	want.Spec.Containers[0].Command, want.Spec.Containers[0].LivenessProbe, want.Spec.Containers[0].Env[0].Value = nil, nil, ""
	got, err := nodeagent.Trim(pod)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("error %v, pod (-want +got):\n%s", err, diff)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	if got, err := nodeagent.Trim(node); got != any(node) || err != nil {
		t.Errorf("a node became %v, error %v", got, err)
	}
}

package caches

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func owned(name, namespace string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, OwnerReferences: owners}}
}

func TestOwnerIndex(t *testing.T) {
	informer := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	for range 2 { // a second user of a shared informer adds nothing
		if err := AddOwnerIndex(informer); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range []*corev1.Pod{
		owned("a", "x", metav1.OwnerReference{UID: "1"}),
		owned("b", "x", metav1.OwnerReference{UID: "2"}, metav1.OwnerReference{UID: "1"}),
		owned("c", "x"),
		owned("c", "y"),
	} {
		if err := informer.GetIndexer().Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	count := func(pods []*corev1.Pod, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return len(pods)
	}
	got := []int{
		count(OwnedBy[*corev1.Pod](informer.GetIndexer(), "1")),
		count(OwnedBy[*corev1.Pod](informer.GetIndexer(), "2")),
		count(OwnedBy[*corev1.Pod](informer.GetIndexer(), "3")),
		count(Orphans[*corev1.Pod](informer.GetIndexer(), "x")),
	}
	if diff := cmp.Diff([]int{2, 1, 0, 1}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := OwnedBy[*corev1.Node](informer.GetIndexer(), "1"); err == nil {
		t.Error("a cache of pods gives nodes")
	}
}

func TestTrimKeepsWhatIsRead(t *testing.T) {
	pod := owned("a", "x", metav1.OwnerReference{UID: "1"})
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	pod.Spec = corev1.PodSpec{
		Volumes:        []corev1.Volume{{Name: "token"}},
		Tolerations:    []corev1.Toleration{{Key: "k"}},
		NodeName:       "node-1",
		Containers:     []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{Name: "A"}}, VolumeMounts: []corev1.VolumeMount{{Name: "token"}}}},
		ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "g"}},
	}
	pod.Status = corev1.PodStatus{PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "main"}}}
	want := pod.DeepCopy()
	want.ManagedFields, want.Spec.Volumes, want.Spec.Tolerations = nil, nil, nil
	got, err := Trim(pod)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	missed := cache.DeletedFinalStateUnknown{Key: "x/a"}
	if got, err := Trim(missed); err != nil || got != any(missed) {
		t.Errorf("got %v, %v", got, err)
	}
}

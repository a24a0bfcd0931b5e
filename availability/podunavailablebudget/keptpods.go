// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// keptPod is what a CachedWebhook keeps of a pod: what TrimPod does, without the room of a whole pod, which takes more than that.
type keptPod struct {
	metav1.ObjectMeta
	phase corev1.PodPhase
	ready corev1.ConditionStatus // empty if the pod has no such condition
}

// keepPod is TrimPod for a cache of keptPods.
func keepPod(object any) (any, error) {
	trimmed, err := TrimPod(object)
	pod, ok := trimmed.(*corev1.Pod)
	if !ok {
		return trimmed, err
	}
	kept := &keptPod{ObjectMeta: pod.ObjectMeta, phase: pod.Status.Phase}
	for i := range pod.Status.Conditions {
		kept.ready = pod.Status.Conditions[i].Status
	}
	return kept, err
}

// pod returns what TrimPod makes of the pod. It shares maps with the cache, and must not be changed.
func (k *keptPod) pod() *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: k.ObjectMeta, Status: corev1.PodStatus{Phase: k.phase}}
	if k.ready != "" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: k.ready}}
	}
	return pod
}

// keptPods lists the pods of a cache of keptPods. A CachedWebhook gets one by its name.
type keptPods struct {
	cache.Indexer
	namespace string // empty: all
}

func (k keptPods) Pods(namespace string) corev1listers.PodNamespaceLister {
	return keptPods{k.Indexer, namespace}
}

func (k keptPods) Get(name string) (*corev1.Pod, error) {
	object, found, err := k.GetByKey(cache.NewObjectName(k.namespace, name).String())
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return object.(*keptPod).pod(), nil
}

func (k keptPods) List(selector labels.Selector) (pods []*corev1.Pod, err error) {
	err = cache.ListAll(k.Indexer, selector, func(object any) {
		if kept := object.(*keptPod); k.namespace == "" || kept.Namespace == k.namespace {
			pods = append(pods, kept.pod())
		}
	})
	return pods, err
}

// knownPods lists the pods of an informer that is shared, while that is filled and runs, and otherwise those that the webhook keeps.
type knownPods struct {
	kept   keptPods
	shared *sharedPods
}

func (k knownPods) Pods(namespace string) corev1listers.PodNamespaceLister {
	return k.now().Pods(namespace)
}

func (k knownPods) List(selector labels.Selector) ([]*corev1.Pod, error) {
	return k.now().List(selector)
}

func (k knownPods) now() corev1listers.PodLister {
	if k.shared.isGiven() && k.shared.informer.HasSynced() && !k.shared.informer.IsStopped() {
		return corev1listers.NewPodLister(k.shared.informer.GetIndexer())
	}
	return k.kept
}

// sharedPods is an informer of pods that another part of the program runs, once there is one.
type sharedPods struct {
	once     sync.Once
	informer cache.SharedIndexInformer // set before given is closed
	given    chan struct{}
}

func newSharedPods() *sharedPods { return &sharedPods{given: make(chan struct{})} }

func (s *sharedPods) give(informer cache.SharedIndexInformer) {
	s.once.Do(func() {
		s.informer = informer
		close(s.given)
	})
}

func (s *sharedPods) isGiven() bool {
	select {
	case <-s.given:
		return true
	default:
		return false
	}
}

// await returns when the informer is filled, or the context is done.
func (s *sharedPods) await(ctx context.Context) {
	select {
	case <-s.given:
		cache.WaitForCacheSync(ctx.Done(), s.informer.HasSynced)
	case <-ctx.Done():
	}
}

// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// resourceRequests is the cache that a Reconciler reads.
const resourceRequests podwright.Resource = "containerrecreaterequests"

// NewRequestInformer returns an informer of the active requests for the pods of
// one node. The caller runs it.
func NewRequestInformer(c client.Interface, node string) cache.SharedIndexInformer {
	selector := labels.Set{
		v1alpha1.ContainerRecreateRequestNodeNameLabel: node,
		v1alpha1.ContainerRecreateRequestActiveLabel:   "true",
	}.String()
	return client.NewFilteredContainerRecreateRequestInformer(c, metav1.NamespaceAll, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		func(options *metav1.ListOptions) { options.LabelSelector = selector })
}

// requests returns the requests for a pod.
func (r *reconciler) requests(pod types.NamespacedName) (of []*v1alpha1.ContainerRecreateRequest, err error) {
	all, err := caches.All[*v1alpha1.ContainerRecreateRequest](r.options.Reader, resourceRequests, pod.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read ContainerRecreateRequests of namespace %s: %w", pod.Namespace, err)
	}
	for _, request := range all {
		if request.Spec.PodName == pod.Name {
			of = append(of, request)
		}
	}
	return of, nil
}

// observe reads what a plan for a pod depends on; nil if there is no request to work on. That the runtime does not
// answer is part of the snapshot.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	requests, err := r.requests(key)
	if err != nil {
		return nil, err
	}
	s := r.snapshot(key, requests)
	chosen := s.chosen()
	if chosen == nil {
		return nil, nil
	}
	s.RuntimeErr = r.observeContainers(ctx, s, chosen)
	s.Now = r.options.Clock.Now()
	return s, nil
}

// snapshot returns what is known of requests now.
func (r *reconciler) snapshot(key types.NamespacedName, requests []*v1alpha1.ContainerRecreateRequest) *Snapshot {
	now := r.options.Clock.Now()
	return &Snapshot{key: key, Requests: requests, Runtime: r.options.Runtime.Name, Seen: r.memory.see(key, requests, now), Now: now}
}

// newestSandbox returns the sandbox of the newest of some containers.
func newestSandbox(containers []*criv1.Container) string {
	newest := slices.MaxFunc(containers, func(a, b *criv1.Container) int { return cmp.Compare(a.GetCreatedAt(), b.GetCreatedAt()) })
	return newest.GetPodSandboxId()
}

// observeContainers asks the runtime for the containers of a request's pod.
func (r *reconciler) observeContainers(ctx context.Context, s *Snapshot, chosen *v1alpha1.ContainerRecreateRequest) (err error) {
	uid := chosen.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel]
	if uid == "" { // which some runtimes take for any
		return nil
	}
	if s.Containers, err = r.options.Runtime.Containers(ctx, types.UID(uid)); err != nil || len(s.Containers) == 0 {
		return err
	}
	if s.Sandbox, err = r.options.Runtime.SandboxStatus(ctx, newestSandbox(s.Containers)); err != nil {
		return err
	}
	if chosen.Spec.Strategy == nil || chosen.Spec.Strategy.MinStartedSeconds <= 0 {
		return nil
	}
	s.Started = map[string]time.Time{}
	newest := nodeagent.Newest(s.Containers)
	for i := range chosen.Spec.Containers {
		c := newest[chosen.Spec.Containers[i].Name]
		if c.GetState() != criv1.ContainerState_CONTAINER_RUNNING {
			continue
		}
		answer, err := r.options.Runtime.ContainerStatus(ctx, c.GetId(), false)
		switch {
		case nodeagent.NotFound(err):
		case err != nil:
			return err
		case answer.GetStatus().GetStartedAt() > 0:
			s.Started[c.GetId()] = time.Unix(0, answer.GetStatus().GetStartedAt())
		}
	}
	return nil
}

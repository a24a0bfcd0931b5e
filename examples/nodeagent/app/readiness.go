// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/serve"
	"github.com/podwright/podwright/examples/process/controllers"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// readiness knows what an agent depends on, once it has that, and how far its
// features are.
type readiness struct {
	lock sync.Mutex
	of   *shared
	// waiting holds, by feature, the CRD that one waits for; empty while it is not known whether it must.
	waiting map[string]string
}

// connected tells what the features share, and which there are.
func (r *readiness) connected(s *shared, features []controllers.Controller) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.of, r.waiting = s, map[string]string{}
	for _, f := range features {
		r.waiting[f.Name] = ""
	}
}

// waits tells that a feature waits for its CRD. The agent is ready without it.
func (r *readiness) waits(f controllers.Controller) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.waiting[f.Name] = f.Resource.GroupResource().String()
}

// runs tells that a feature runs.
func (r *readiness) runs(f controllers.Controller) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.waiting, f.Name)
}

// features says which features are not there, and why.
func (r *readiness) features() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	var unknown, waiting []string
	for _, name := range slices.Sorted(maps.Keys(r.waiting)) {
		if crd := r.waiting[name]; crd == "" {
			unknown = append(unknown, name)
		} else {
			waiting = append(waiting, fmt.Sprintf("%s begins when the CRD %s is installed", name, crd))
		}
	}
	switch {
	case len(unknown) > 0:
		return fmt.Errorf("not yet known whether the API server serves what they are about: %s", strings.Join(unknown, ", "))
	case len(waiting) > 0:
		return serve.Note(strings.Join(waiting, "; "))
	}
	return nil
}

func (r *readiness) checks() []serve.Check {
	check := func(name string, run func(*shared, *http.Request) error) serve.Check {
		return serve.Check{Name: name, Run: func(request *http.Request) error {
			r.lock.Lock()
			of := r.of
			r.lock.Unlock()
			if of == nil {
				return errors.New("the agent has not started yet")
			}
			return run(of, request)
		}}
	}
	synced := func(name, objects string, object runtime.Object) serve.Check {
		return check(name, func(s *shared, _ *http.Request) error {
			now, cancel := context.WithCancel(context.Background())
			cancel()
			if synced, started := s.caches.WaitForCacheSyncWithContext(now).Synced[reflect.TypeOf(object)]; started && !synced {
				return fmt.Errorf("the %s of the node have not been listed yet", objects)
			}
			return nil
		})
	}
	return []serve.Check{
		check("features", func(*shared, *http.Request) error { return r.features() }),
		synced("podInformerSynced", "pods", &corev1.Pod{}),
		synced("crrInformerSynced", "ContainerRecreateRequests", &lifecyclev1alpha1.ContainerRecreateRequest{}),
		synced("nodeImageInformerSynced", "tasks to pull images", &distributionv1alpha1.NodeImage{}),
		synced("nodePodProbeInformerSynced", "probes", &lifecyclev1alpha1.NodePodProbe{}),
		check("runtime", func(s *shared, request *http.Request) error { return s.runtime.Check(request.Context()) }),
	}
}

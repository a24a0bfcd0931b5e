package app

import (
	"errors"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/nodeagent"
)

// readiness knows what an agent depends on, once it has that.
type readiness struct{ of atomic.Pointer[dependencies] }

type dependencies struct {
	runtime          *nodeagent.Runtime
	pods, nodeImages cache.InformerSynced
}

func (r *readiness) started(shared parts) {
	r.of.Store(&dependencies{shared.runtime, shared.pods.synced(), shared.nodeImages.synced()})
}

func (r *readiness) checks() []process.Check {
	check := func(name string, run func(*dependencies, *http.Request) error) process.Check {
		return process.Check{Name: name, Run: func(request *http.Request) error {
			of := r.of.Load()
			if of == nil {
				return errors.New("the agent has not started yet")
			}
			return run(of, request)
		}}
	}
	return []process.Check{
		check("podInformerSynced", func(of *dependencies, _ *http.Request) error {
			if !of.pods() {
				return errors.New("the pods of the node have not been listed yet")
			}
			return nil
		}),
		check("nodeImageInformerSynced", func(of *dependencies, _ *http.Request) error {
			if !of.nodeImages() {
				return errors.New("the NodeImage of the node has not been listed yet: does the API server serve nodeimages?")
			}
			return nil
		}),
		check("runtime", func(of *dependencies, request *http.Request) error { return of.runtime.Check(request.Context()) }),
	}
}

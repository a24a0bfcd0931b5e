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
	runtime *nodeagent.Runtime
	synced  cache.InformerSynced
}

func (r *readiness) started(runtime *nodeagent.Runtime, synced cache.InformerSynced) {
	r.of.Store(&dependencies{runtime, synced})
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
			if !of.synced() {
				return errors.New("the pods of the node have not been listed yet")
			}
			return nil
		}),
		check("runtime", func(of *dependencies, request *http.Request) error { return of.runtime.Check(request.Context()) }),
	}
}

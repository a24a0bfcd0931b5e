// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// errOver ends the wait for a container whose request is completed or gone.
var errOver = errors.New("the request is over")

// underway holds, by pod, the containers that are being stopped. There is one per
// pod at most; the wait for it may take as long as its grace period.
type underway struct {
	lock sync.Mutex
	pods map[types.NamespacedName]wait
}

type wait struct {
	request types.UID
	cancel  context.CancelCauseFunc
}

// begin returns the context for a wait, which is done with errOver once check finds
// the request over. The wait has to be ended.
func (u *underway) begin(ctx context.Context, pod types.NamespacedName, request types.UID) (waiting context.Context, end func()) {
	waiting, cancel := context.WithCancelCause(ctx)
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.pods == nil {
		u.pods = map[types.NamespacedName]wait{}
	}
	u.pods[pod] = wait{request, cancel}
	return waiting, func() {
		u.lock.Lock()
		defer u.lock.Unlock()
		delete(u.pods, pod)
		cancel(nil)
	}
}

// check ends the wait for a container of a pod, unless its request is still there for the
// pod and is not over.
func (u *underway) check(pod types.NamespacedName, requests []*v1alpha1.ContainerRecreateRequest) {
	u.lock.Lock()
	defer u.lock.Unlock()
	is, found := u.pods[pod]
	if found && !slices.ContainsFunc(requests, func(r *v1alpha1.ContainerRecreateRequest) bool { return r.UID == is.request && !over(r) }) {
		is.cancel(errOver)
	}
}

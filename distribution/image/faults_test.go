// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
)

// failing has requests of a controller that begin like that fail: those after the first ones, so often, without end if that is negative.
type failing struct {
	user, what   string
	skip, times  int32
	err          error
	served       bool          // before it fails
	slow         time.Duration // what an answer takes
	seen, failed atomic.Int32
}

// answers are how the API server fails, by the names that scripts give that.
var answers = map[string]error{
	"":             apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("a policy")),
	"internal":     fixture.ErrInternal,
	"lost":         fixture.ErrLost,
	"conflict":     apierrors.NewConflict(corev1.Resource("secrets"), "s", errors.New("no")),
	"bad-request":  apierrors.NewBadRequest("a policy of yours"),
	"no-namespace": apierrors.NewNotFound(corev1.Resource("namespaces"), "kruise-daemon-config"),
}

func (f *failing) fail(r fakecluster.Request) error {
	if r.User != f.user || !strings.HasPrefix(r.String()+" "+r.Name, f.what) {
		return nil
	}
	time.Sleep(f.slow)
	if n := f.seen.Add(1) - f.skip; n <= 0 || f.times >= 0 && n > f.times {
		return nil
	}
	f.failed.Add(1)
	return f.err
}

// fail begins a fault, in the place of the last one.
func (p *player) fail(d *datadriven.TestData, args []string) {
	f := &failing{user: map[string]string{"jobs": jobUser, "nodes": nodeUser}[args[0]], err: answers[""], times: int32(patches.Number(p.t, args[1]))}
	var words []string
	for _, arg := range d.CmdArgs[2:] {
		switch arg.Key {
		case "with":
			f.err, f.served = answers[arg.Vals[0]], arg.Vals[0] == "lost"
		case "skip":
			f.skip = int32(patches.Number(p.t, arg.Vals[0]))
		case "slow":
			f.slow = patches.Duration(p.t, arg.Vals[0])
		default:
			words = append(words, arg.Key)
		}
	}
	f.what = strings.Join(words, " ")
	p.fault = f
	if f.served {
		p.FailAfter(f.fail)
	} else {
		p.FailBefore(f.fail)
	}
}

// heal ends it, and says whether it has made requests fail.
func (p *player) heal() string {
	p.FailBefore(nil)
	p.FailAfter(nil)
	if p.fault == nil {
		return ""
	}
	failed := p.fault.failed.Load()
	p.fault = nil
	return map[bool]string{false: "no request failed", true: "requests failed"}[failed > 0]
}

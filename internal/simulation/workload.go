package simulation

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apitest"
	"github.com/podwright/podwright/internal/simulation/invariants"
)

// Workload is a kind of workload, as a simulation needs to know it.
type Workload struct {
	// Resource is how the API server knows it.
	Resource apitest.Resource
	// Empty returns an empty object of its type.
	Empty func() Object
	// Create returns the workload of a seed. Its name and namespace are those of Web.
	Create func(r *rand.Rand) Object
	// Start starts the controller of a process that has just begun, and remembers nothing.
	Start func(p *Process) (Controller, error)
	// Act is one thing that users do to the workload, or that owners of its
	// lifecycle hooks do to its pods.
	Act func(u *User, r *rand.Rand)
	// Release is what owners of lifecycle hooks do at last: they let go of what
	// waits for them. Nil: there are none.
	Release func(u *User)
	// Heal is how users make an end of what they did: after it the workload must
	// converge.
	Heal func(u *User)
	// Judge judges a write of the controller of a seed.
	Judge func(seed uint64, w *invariants.Write) []invariants.Violation
	// JudgeRest judges what there is when all has come to rest. healed says that the
	// users have made an end.
	JudgeRest func(s *invariants.State, healed bool) []invariants.Violation
}

// Web is the workload of every simulation.
var Web = types.NamespacedName{Namespace: "default", Name: "web"}

// Controller is the controller under test.
type Controller struct {
	// Reconcile makes one pass.
	Reconcile func(context.Context, types.NamespacedName) (requeueAfter time.Duration, err error)
	// Unfinished shows what a pass would do now; empty stands for nothing.
	Unfinished func() (string, error)
}

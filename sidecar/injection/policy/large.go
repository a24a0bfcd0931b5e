// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"math"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What policies cost at most, as estimated here: an API server ends an expression at one million, and a policy at ten. The rest is
// for what is not estimated.
const (
	mostOfOne = 800_000
	mostOfAll = 4_000_000
)

// small are the conditions under which a pod is small enough for a policy. Its mounts are compared with one another and
// looked up among the variables that they name. Its variables are compared with those that are copied. What else there is
// costs little. (SCP-11)
func (c *compiler) small() (conditions []admissionregistrationv1.MatchCondition) {
	sharing, transferring, most := 0, 0, 0
	for i := range c.set.Spec.Containers {
		s := &c.set.Spec.Containers[i]
		if s.ShareVolumePolicy.Type == v1alpha1.ShareVolumePolicyEnabled {
			sharing++
		}
		if n := transfers(s); n > 0 {
			transferring, most = transferring+1, max(most, n)
		}
	}
	for i := range c.set.Spec.InitContainers {
		if n := transfers(&c.set.Spec.InitContainers[i]); n > 0 {
			transferring, most = transferring+1, max(most, n)
		}
	}
	const mounts, env = `c.?volumeMounts.orValue([])`, `c.?env.orValue([]).size()`
	const references = `m.?subPathExpr.orValue("").split("$(").size() - 1`
	if sharing > 0 {
		named := int(math.Sqrt(min(mostOfOne/2, float64(mostOfAll/2)/float64(sharing)))) - most
		conditions = append(conditions, admissionregistrationv1.MatchCondition{Name: "few-mounts", Expression: strings.Join([]string{
			fmt.Sprintf(`[object.spec.containers.map(c, %s.size()).sum()].all(n, object.spec.containers.map(c, %[1]s.map(m, n * (1 + m.mountPath.size() / 10) + 8 * (%s) * %s).sum()).sum() <= %d)`,
				mounts, references, env, mostOfOne),
			fmt.Sprintf(`object.spec.containers.map(c, %s.map(m, %s).sum()).sum() <= %d`, mounts, references, max(named, 0)),
		}, " && ")})
	}
	if transferring > 0 {
		copied := min(mostOfOne/(8*most), mostOfAll/(8*most*transferring))
		conditions = append(conditions, admissionregistrationv1.MatchCondition{Name: "few-variables",
			Expression: fmt.Sprintf(`object.spec.containers.all(c, %s <= %d)`, env, copied)})
	}
	return conditions
}

// transfers is how many variables a container gets from others.
func transfers(s *v1alpha1.SidecarContainer) (n int) {
	for i := range s.TransferEnv {
		if n += len(s.TransferEnv[i].EnvNames); s.TransferEnv[i].EnvName != "" {
			n++
		}
	}
	return n
}

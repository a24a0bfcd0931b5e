// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// StatefulSetFeatures says what of later releases the controller of StatefulSets is to do.
type StatefulSetFeatures struct {
	// StartOrdinal has ordinals begin with the one that the spec gives. (STS-31)
	StartOrdinal bool
	// PartitionCountsPods makes the partition a number of pods. (STS-33)
	PartitionCountsPods bool
	// UpdateUnavailable lets it update all pods that do not serve. (STS-34)
	UpdateUnavailable bool
	// SpecifiedDelete lets it delete pods that users have marked. (STS-35)
	SpecifiedDelete bool
	// PreNormal has the preNormal hook count, and no pod be available that is aside. (STS-36)
	PreNormal bool
	// PreparingUpdateAsUpdate has it count pods in PreparingUpdate as updated. (STS-37)
	PreparingUpdateAsUpdate bool
	// KeepClaimLabels has claims get the labels of their template. (STS-38)
	KeepClaimLabels bool
	// ResizeClaims has it count the claims of pods by template, and grow them. (STS-40 to STS-44)
	ResizeClaims bool
}

// WantedOrdinals returns the ordinals of the pods that a StatefulSet is to have, for users and models of others. (STS-1, STS-31)
func WantedOrdinals(set *v1beta1.StatefulSet, features StatefulSetFeatures) []int {
	j := &statefulSetJudge{set: set, features: features, replicas: int(ptr.Deref(set.Spec.Replicas, 1))}
	j.placeOrdinals()
	return j.wanted
}

// span is the ordinals from first to last.
type span struct{ first, last int }

// written is a range as a spec has it.
var written = regexp.MustCompile(`^([0-9]+)-([0-9]+)$`)

// placeOrdinals finds out which ordinals are wanted. (STS-1, STS-31)
func (j *statefulSetJudge) placeOrdinals() {
	if o := j.set.Spec.Ordinals; o != nil && j.features.StartOrdinal {
		j.start = int(o.Start)
		j.broken = j.broken || j.start < 0
	}
	reserved := j.reserved()
	for ordinal, end := j.start, j.start; ; ordinal++ {
		if j.end = end; len(j.wanted) >= j.replicas {
			return
		}
		if !slices.ContainsFunc(reserved, func(s span) bool { return s.first <= ordinal && ordinal <= s.last }) {
			j.wanted, end = append(j.wanted, ordinal), ordinal+1
		}
	}
}

// reserved reads what the spec reserves. (STS-32)
func (j *statefulSetJudge) reserved() (spans []span) {
	for _, entry := range j.set.Spec.Reserved() {
		if entry.Type == intstr.Int {
			spans = append(spans, span{int(entry.IntVal), int(entry.IntVal)})
			continue
		}
		ends := written.FindStringSubmatch(entry.StrVal)
		if ends == nil {
			j.broken = true
			continue
		}
		first, err := strconv.Atoi(ends[1])
		last, err2 := strconv.Atoi(ends[2])
		j.broken = j.broken || err != nil || err2 != nil || first > last
		spans = append(spans, span{first, last})
	}
	return spans
}

// beyond tells whether an ordinal is outside of the wanted ones because of the first and the number of them. (STS-24, STS-31)
func (j *statefulSetJudge) beyond(ordinal int) bool { return ordinal < j.start || ordinal >= j.end }

// below tells whether the partition of an update in order holds the pod of an ordinal back. (STS-17, STS-33)
func (j *statefulSetJudge) below(ordinal int) bool {
	if !j.features.PartitionCountsPods {
		return ordinal < j.partition
	}
	lower := 0
	for _, wanted := range j.wanted {
		if wanted < ordinal {
			lower++
		}
	}
	return lower < j.partition
}

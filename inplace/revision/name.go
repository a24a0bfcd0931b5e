// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"hash/fnv"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/rand"
)

// maxParentLength leaves room in an object name for a dash and a hash.
const maxParentLength = 223

// Hash returns the hash of revision data (CS-CR2). A nil collisionCount counts as 0.
func Hash(data []byte, collisionCount *int32) string {
	var count int32
	if collisionCount != nil {
		count = *collisionCount
	}
	h := fnv.New32()
	h.Write(data)
	h.Write(strconv.AppendInt(nil, int64(count), 10))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// Name returns the name of the revision of a workload with the given hash. A
// workload's name of more than 223 bytes is cut to that length.
func Name(parent, hash string) string {
	if len(parent) > maxParentLength {
		parent = parent[:maxParentLength]
	}
	return parent + "-" + hash
}

// ShortHash returns the hash at the end of a revision's name: the text after
// the last dash, or all of it if there is none.
func ShortHash(revisionName string) string {
	return revisionName[strings.LastIndexByte(revisionName, '-')+1:]
}

// Matches tells whether a pod whose revision label has the given value belongs
// to the named revision. The label may hold the whole name or only its hash. A
// pod without the label (an empty value) belongs to none.
func Matches(podLabelValue, revisionName string) bool {
	if podLabelValue == "" || revisionName == "" {
		return false
	}
	return podLabelValue == revisionName || ShortHash(podLabelValue) == ShortHash(revisionName)
}

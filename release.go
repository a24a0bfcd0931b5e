// SPDX-License-Identifier: Apache-2.0

package podwright

import (
	"fmt"
	"strings"
)

// Release names a release of OpenKruise that controllers behave as, if releases differ in a way that a user's manifest
// would notice. FeaturesOf of a kind's package returns the switches as that release has them; a program
// changes single ones after that. Custom resource definitions do not depend on it: they carry the fields of
// all releases. The zero value is not a release.
type Release string

// The releases. Release14 is the default of programs: the zero Features of every kind are its.
const (
	Release14 Release = "1.4"
	Release19 Release = "1.9"
)

var releases = []Release{Release14, Release19}

// String returns the release as users write it: 1.4.
func (r Release) String() string { return string(r) }

// Set takes a release from the text of a flag. It returns an error for any other text.
func (r *Release) Set(text string) error {
	for _, known := range releases {
		if text == string(known) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Trim(fmt.Sprint(releases), "[]"))
}

// Type returns what stands for a release in the help of a flag.
func (Release) Type() string { return "release" }

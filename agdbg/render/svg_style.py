"""How the SVG looks: one style sheet for all boxes, and the shapes that are used again and again."""

from agdbg.graph.model import BadgeKind, NodeState

TITLE_SIZE, SUB_SIZE, KEY_SIZE = 19.0, 12.0, 11.5
OP_SIZE, SMALL_SIZE, BADGE_SIZE = 13.0, 11.0, 10.5
"""Font sizes; they repeat what the style sheet says, for measuring."""

STYLE = """
text{font-family:"Segoe UI","Helvetica Neue",Arial,"Liberation Sans","DejaVu Sans",sans-serif;fill:#1f2733}
.page{fill:#fbfcfe}
.title{font-size:19px;font-weight:600}
.sub{font-size:12px;fill:#5a6676}
.key{font-size:11.5px;fill:#3c4757}
.edges path{fill:none;stroke:#7d899a;stroke-width:1.4;marker-end:url(#tip)}
.edges path.inferred{stroke-dasharray:5 4}
.count{font-size:10.5px;fill:#5a6676;paint-order:stroke;stroke:#fbfcfe;stroke-width:4px}
.op{font-size:13px;font-weight:600}
.id{font-size:10.5px;fill:#667385;text-anchor:end}
.site,.src{font-size:11px;font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.site{fill:#3f6190}
.src{fill:#3c4757}
.box{stroke-width:1.5}
.pending .box{fill:#fff;stroke:#6b7686;stroke-dasharray:6 4}
.ran .box{fill:#e8f2fd;stroke:#2b6cb0}
.freed .box{fill:#eff1f4;stroke:#8490a0;stroke-dasharray:1.5 3;stroke-linecap:round}
.failed .box{fill:#fdeaea;stroke:#c62828;stroke-width:3}
.halo{fill:none;stroke:#f6c3c3;stroke-width:4}
.failed>.op{fill:#a31515}
.freed>.op,.freed>.src{fill:#5f6b7b}
.mark{fill:none;stroke-width:1.9;stroke-linecap:round;stroke-linejoin:round}
.pill{stroke-width:1}
.tag{font-size:10.5px;text-anchor:middle}
.parameter{fill:#e2f4e6;stroke:#2f855a}
.leaf{fill:#fdf3d7;stroke:#b7791f}
.saved{fill:#f1eafb;stroke:#6b46c1;stroke-dasharray:3 2}
.port{fill:#fff;stroke:#7d899a}
.more{fill:none;stroke:none}
a:hover .port{stroke:#2b6cb0}
"""

DEFINITIONS = """<defs>
<marker id="tip" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="8" markerHeight="8" \
markerUnits="userSpaceOnUse" orient="auto"><path d="M0 .6L7.4 4L0 7.4z" fill="#7d899a"/></marker>
<g id="pending" class="mark" stroke="#6b7686"><circle cx="6" cy="6" r="4"/></g>
<g id="ran" class="mark" stroke="#2b6cb0"><path d="M1.5 6.5L4.8 9.8L10.8 2.8"/></g>
<g id="freed" class="mark" stroke="#8490a0"><path d="M2 6H10"/></g>
<g id="failed" class="mark" stroke="#fff"><circle cx="6" cy="6" r="8" fill="#c62828" stroke="none"/>\
<path d="M2.8 2.8L9.2 9.2M9.2 2.8L2.8 9.2"/></g>
</defs>"""
"""The arrow tip, and for each state a mark of 12 by 12 units."""

STATE_NAMES: dict[NodeState, str] = {
    "pending": "not run yet",
    "ran": "ran",
    "freed": "ran, saved tensors freed",
    "failed": "failed here",
}

BADGE_NAMES: dict[BadgeKind, str] = {
    "parameter": "parameter",
    "leaf": "other leaf",
    "saved": "saved tensor",
}

PILL_RADIUS = {"parameter": 2, "leaf": 8, "saved": 2, "port": 5, "more": 5}

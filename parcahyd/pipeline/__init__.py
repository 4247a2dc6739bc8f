"""The boxes of the drawing, one file each, in the order in which a URL passes them.

url_dispatcher -> url_ip_queue -> mapping_manager -> url_mapper -> resolved_queue -> crawl_manager -> crawl_worker ->
document_buffer -> update_database. Boxes take and give records; they decide, and ports act. Boxes never import each
other: `parcahyd.topology` connects them.
"""
